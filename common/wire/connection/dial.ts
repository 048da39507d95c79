// Opens the TLS connection of a channel: local interface, HTTP CONNECT proxy, ALPN, and verification of the server
// against a pool, all within one timeout.

import type { X509Certificate } from 'node:crypto';
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls, type SecureContextOptions, type TLSSocket } from 'node:tls';
import { asError, describeError, ProjectError, TimeoutError } from '#lib/errors.ts';
import type { Address } from '#lib/net/address.ts';
import { formatAddress, hostProblem, joinHostPort } from '#lib/net/address.ts';
import { connectRemedy } from '#lib/net/connect-remedy.ts';
import { onAbort } from '#lib/time/abort.ts';
import type { Clock } from '#lib/time/clock.ts';
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
export async function dialTls(options: DialOptions): Promise<TLSSocket> {
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
  let raw: Socket | undefined;
  try {
    raw = proxy ? await connectThroughProxy(options, proxy, signal) : undefined;
    return await handshake(options, raw, signal, (certificate) => {
      leaf = certificate;
    });
  } catch (error) {
    raw?.destroy(); // OpenSSL may reject the context, so that no TLS socket owns the connection
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

/** `onLeaf` receives the certificate of the server before it is verified. */
function handshake(
  options: DialOptions,
  raw: Socket | undefined,
  signal: AbortSignal,
  onLeaf: (certificate: X509Certificate | undefined) => void,
): Promise<TLSSocket> {
  const host = hostOf(options.address);
  const target = raw
    ? { socket: raw }
    : {
        ...FAMILIES,
        port: options.address.port,
        host,
        ...(options.localAddress && { localAddress: options.localAddress }),
      };
  const socket = connectTls({
    minVersion: 'TLSv1.2',
    rejectUnauthorized: true, // the default depends on the environment
    ...options.context,
    ...target,
    host,
    allowPartialTrustChain: true,
    ...(isIP(host) === 0 && { servername: host }),
    ...(options.alpn && { ALPNProtocols: [...options.alpn] }),
  });
  // Node verifies the certificate in its own listener of this event, and destroys the socket if it is not valid.
  socket.prependOnceListener('secure', () => onLeaf(socket.getPeerX509Certificate()));
  return untilEvent(socket, 'secureConnect', signal);
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
function untilEvent<S extends Socket>(socket: S, event: string, signal: AbortSignal): Promise<S> {
  return new Promise((resolve, reject) => {
    const finish = () => {
      socket.off(event, onEvent);
      socket.off('error', onError);
      socket.off('close', onClose);
      ended();
    };
    const fail = (error: Error) => {
      finish();
      socket.on('error', () => undefined); // the first error was already reported
      socket.destroy();
      reject(error);
    };
    const onEvent = () => (finish(), resolve(socket));
    const onError = (error: Error) => fail(error);
    const onClose = () => fail(new DialError('the connection was closed'));
    socket.once(event, onEvent);
    socket.once('error', onError);
    socket.once('close', onClose);
    const ended = onAbort(signal, fail);
    if (socket.destroyed && !signal.aborted) onClose();
  });
}
