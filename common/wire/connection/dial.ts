// Opens the TLS connection of a channel: local interface, HTTP CONNECT proxy, ALPN, and verification of the server
// against a pool, all within one timeout.

import type { X509Certificate } from 'node:crypto';
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { type ConnectionOptions, connect as connectTls, type SecureContextOptions, type TLSSocket } from 'node:tls';
import { asError, describeError, ProjectError, TimeoutError } from '#lib/errors.ts';
import type { Address } from '#lib/net/address.ts';
import { formatAddress, hostProblem, joinHostPort } from '#lib/net/address.ts';
import { connectRemedy } from '#lib/net/connect-remedy.ts';
import type { IoThreads } from '#lib/threads/io-threads.ts';
import { onAbort } from '#lib/time/abort.ts';
import type { Clock } from '#lib/time/clock.ts';
import { ThreadedTls, type TlsConnection } from './threads/threaded-tls.ts';
import { LINK_CONNECTION } from './threads/tls-crossing.ts';
import { explainTlsFailure } from './tls-failure.ts';

/** An outbound HTTP proxy for CONNECT requests. */
export interface HttpProxy {
  readonly host: string;
  readonly port: number;
  readonly username?: string | undefined;
  readonly password?: string | undefined;
}

export interface DialOptions {
  address: Address;
  /** ALPN names to offer; none for SDK style connections. */
  alpn?: readonly string[];
  /** Client certificate, key and roots. Without `ca` the system's roots are used. */
  context: SecureContextOptions;
  /** The source of `context.ca`, for errors: a key with its file. */
  authorities?: string | undefined;
  /** Local IP address of the connection. */
  localAddress?: string | undefined;
  proxy?: HttpProxy | undefined;
  /** Milliseconds for connecting and the TLS handshake together. */
  timeout: number;
  clock: Clock;
  signal?: AbortSignal | undefined;
}

/**
 * Milliseconds that each address of a name but the last gets to connect. Node's default of 500 ms excludes paths over
 * satellites, and a lost SYN is repeated after a second; an IPv4-only machine cannot reach the last address, of IPv6.
 */
const FAMILIES = { autoSelectFamilyAttemptTimeout: 2_000 };
/** A proxy's answer is a status line and a few headers; a longer one does not come from a proxy. */
const MAX_PROXY_ANSWER_BYTES = 16 * 1024;
/** Characters of the status line in errors. */
const MAX_STATUS_LINE_LENGTH = 100;
const HTTP = 'HTTP/1.';
const AUTHENTICATION_REQUIRED = 407;

export class DialError extends ProjectError {
  /** The advice for an operator; undefined if the cause does not suggest any. */
  readonly remedy: string | undefined;

  constructor(message: string, { cause, remedy }: { cause?: unknown; remedy?: string | undefined } = {}) {
    super('DIAL_FAILED', message, { retriable: true, cause });
    this.remedy = remedy;
  }
}

/** The field `remedy` of a log line about an error; none if the error has no remedy. */
export function remedyOf(error: unknown): { readonly remedy?: string } {
  return error instanceof DialError && error.remedy !== undefined ? { remedy: error.remedy } : {};
}

/**
 * Resolves with a connected, verified TLS socket. Rejects with DialError or TimeoutError; the connection is closed
 * then.
 */
export function dialTls(options: DialOptions): Promise<TLSSocket> {
  return dial(options, async (signal, onLeaf) => {
    const raw = options.proxy && (await connectThroughProxy(options, options.proxy, signal));
    return handshake(options, raw, signal, onLeaf);
  });
}

/** The same in an I/O thread, if one can take the connection. */
export function dialTlsInThread(options: DialOptions, threads: IoThreads): Promise<TlsConnection> {
  return dial(options, async (signal, onLeaf) => {
    const isReady = await threads.start();
    const raw = await (options.proxy
      ? connectThroughProxy(options, options.proxy, signal)
      : connectDirectly(options, signal));
    const { context, alpn: protocols = [], address } = options;
    const use = { side: 'dialed', host: hostOf(address), context, protocols } as const;
    const threaded = isReady ? ThreadedTls.open(threads, { network: raw, kind: LINK_CONNECTION, use }) : undefined;
    if (!threaded) return handshake(options, raw, signal, onLeaf);
    threaded.once('close', () => onLeaf(threaded.rejected));
    return untilEvent(threaded, 'secure', signal);
  });
}

/** Explains the failures of `open`, and limits its time. `onLeaf` receives the certificate of the server. */
async function dial<S>(
  options: DialOptions,
  open: (signal: AbortSignal, onLeaf: (leaf: X509Certificate | undefined) => void) => Promise<S>,
): Promise<S> {
  const { address, proxy, clock, timeout } = options;
  const where = formatAddress(address);
  if (address.type !== 'tls') throw new DialError(`${where}: only tls addresses can be dialed here`);
  const via = proxy ? ` through ${nameOf(proxy)}` : '';
  const { signal: late, timer } = clock.deadline(
    'dial',
    timeout,
    () => new TimeoutError(`dialing ${where}${via}`, timeout),
  );
  const signal = options.signal ? AbortSignal.any([late, options.signal]) : late;
  let leaf: X509Certificate | undefined;
  try {
    return await open(signal, (certificate) => {
      leaf = certificate;
    });
  } catch (error) {
    if (signal.aborted) throw asError(signal.reason);
    // Names the proxy in every error: a failed handshake behind it may be its fault as well as the router's.
    const text = describeError(error);
    const authorities = options.authorities ?? 'the trusted authorities';
    const failure = explainTlsFailure(error, { where, host: hostOf(address), leaf, authorities, now: clock.now() });
    const explained = failure ? `${failure.reason} (${text})` : text;
    throw new DialError(`${where}: ${explained}${text.includes(via.trim()) ? '' : via}`, {
      cause: error,
      remedy: failure?.remedy ?? connectRemedy(error),
    });
  } finally {
    timer.cancel();
  }
}

function hostOf({ host }: Address): string {
  return host || 'localhost';
}

async function handshake(
  { context, alpn, address, localAddress }: DialOptions,
  raw: Socket | undefined,
  signal: AbortSignal,
  onLeaf: (certificate: X509Certificate | undefined) => void,
): Promise<TLSSocket> {
  const host = hostOf(address);
  const target = raw ? { socket: raw } : { ...FAMILIES, port: address.port, ...(localAddress && { localAddress }) };
  try {
    const socket = secureDialed(target, { host, context, protocols: alpn ?? [] }, onLeaf);
    return untilEvent(socket, 'secureConnect', signal);
  } catch (error) {
    raw?.destroy(); // OpenSSL rejected the context, so that no TLS socket owns the connection
    throw error;
  }
}

/** Resolves with a TCP connection that reads nothing. */
async function connectDirectly({ address, localAddress }: DialOptions, signal: AbortSignal): Promise<Socket> {
  const socket = connectTcp({
    ...FAMILIES,
    host: hostOf(address),
    port: address.port,
    ...(localAddress && { localAddress }),
  });
  socket.pause(); // else it reads as soon as it is connected
  return untilEvent(socket, 'connect', signal);
}

/** The needs of the TLS of a dialed connection. */
interface ServerSecurity {
  /** The name or address that the certificate of the server must have. */
  readonly host: string;
  readonly context: SecureContextOptions;
  /** ALPN names to offer; none if empty. */
  readonly protocols: readonly string[];
}

/**
 * Begins the TLS of a connection to a server. It emits 'secureConnect' when the certificate of the server is valid.
 *
 * @param onLeaf Receives the certificate of the server before it is verified.
 */
export function secureDialed(
  target: ConnectionOptions,
  { host, context, protocols }: ServerSecurity,
  onLeaf: (certificate: X509Certificate | undefined) => void,
): TLSSocket {
  const socket = connectTls({
    minVersion: 'TLSv1.2',
    rejectUnauthorized: true, // the default depends on the environment
    ...context,
    ...target,
    host,
    allowPartialTrustChain: true,
    ...(isIP(host) === 0 && { servername: host }),
    ...(protocols.length > 0 && { ALPNProtocols: [...protocols] }),
  });
  // Node verifies the certificate in its own listener of this event, and destroys the socket if it is not valid.
  socket.prependOnceListener('secure', () => onLeaf(socket.getPeerX509Certificate()));
  return socket;
}

/**
 * Resolves with a TCP connection through the proxy; all bytes that it reads come from the target. Rejects with
 * DialError, which names the proxy, or with the signal's reason.
 */
export async function connectThroughProxy(
  options: Pick<DialOptions, 'address' | 'localAddress'> & { localPort?: number | undefined },
  proxy: HttpProxy,
  signal: AbortSignal,
): Promise<Socket> {
  const socket = connectTcp({
    ...FAMILIES,
    host: proxy.host,
    port: proxy.port,
    ...(options.localAddress && { localAddress: options.localAddress }),
    ...(options.localPort !== undefined && { localPort: options.localPort }),
  });
  try {
    await untilEvent(socket, 'connect', signal);
    socket.write(connectRequest(options.address, proxy));
    judgeProxyAnswer(await proxyAnswer(socket, signal), proxy);
    return socket;
  } catch (error) {
    socket.destroy();
    if (signal.aborted) throw asError(signal.reason);
    if (error instanceof ProxyRejectedError) throw error;
    const remedy = connectRemedy(error);
    throw new DialError(`no connection through ${nameOf(proxy)}: ${describeError(error)}`, { cause: error, remedy });
  }
}

/** The proxy answered without connecting. */
class ProxyRejectedError extends DialError {}

/** Name of the proxy for errors. */
function nameOf({ host, port }: HttpProxy): string {
  return `the proxy ${joinHostPort(host, port)}`;
}

/** @throws DialError for a host that would change the request */
function connectRequest({ host, port }: Address, { username, password }: HttpProxy): string {
  const problem = hostProblem(host);
  if (problem !== undefined) throw new DialError(problem);
  const target = joinHostPort(host, port);
  const lines = [`CONNECT ${target} HTTP/1.1`, `Host: ${target}`];
  if (username !== undefined) {
    const credentials = Buffer.from(`${username}:${password ?? ''}`).toString('base64');
    lines.push(`Proxy-Authorization: Basic ${credentials}`);
  }
  return `${lines.join('\r\n')}\r\n\r\n`;
}

/** Status line and headers. Rejects if they do not end, or if the proxy closes the connection. */
async function proxyAnswer(socket: Socket, signal: AbortSignal): Promise<string> {
  let answer = '';
  while (!answer.endsWith('\r\n\r\n')) {
    const byte = socket.read(1) as Buffer | null; // one at a time: the bytes after the answer belong to TLS
    if (byte === null) await untilEvent(socket, 'readable', signal);
    else answer += byte.toString('latin1');
    if (answer.length > MAX_PROXY_ANSWER_BYTES) throw new DialError('its answer is too long');
    if (answer.length === HTTP.length && answer !== HTTP) throw new DialError('it did not answer like an HTTP proxy');
  }
  return answer;
}

function judgeProxyAnswer(answer: string, proxy: HttpProxy): void {
  const [line = ''] = answer.split('\r\n', 1);
  const status = Number(/^HTTP\/1\.[01] (\d{3})(?: |$)/.exec(line)?.[1]);
  if (status >= 200 && status < 300) return;
  const given = proxy.username !== undefined;
  const hint = given ? 'it rejects the username and password' : 'it requires a username and password';
  throw new ProxyRejectedError(
    `${nameOf(proxy)} rejected the connection (${printable(line)})${status === AUTHENTICATION_REQUIRED ? `: ${hint}` : ''}`,
  );
}

function printable(line: string): string {
  return line.slice(0, MAX_STATUS_LINE_LENGTH).replace(/[^ -~]/g, '?');
}

/** Waits for `event`; an error, a close or the signal destroys the socket and rejects. */
function untilEvent<S extends Socket | ThreadedTls>(socket: S, event: string, signal: AbortSignal): Promise<S> {
  const emitter = socket as Socket;
  return new Promise((resolve, reject) => {
    const finish = () => {
      emitter.off(event, onEvent);
      emitter.off('error', onError);
      emitter.off('close', onClose);
      ended();
    };
    const fail = (error: Error) => {
      finish();
      emitter.on('error', () => undefined); // the first error was already reported
      socket.destroy();
      reject(error);
    };
    const onEvent = () => (finish(), resolve(socket));
    const onError = (error: Error) => fail(error);
    const onClose = () => fail(new DialError('the connection was closed'));
    emitter.once(event, onEvent);
    emitter.once('error', onError);
    emitter.once('close', onClose);
    const ended = onAbort(signal, fail);
    if (socket.destroyed && !signal.aborted) onClose();
  });
}
