// Opens the TLS connection under a channel: interface to leave by, HTTP CONNECT proxy, ALPN, verification of the server
// against a pool, all within one time limit.

import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls, type SecureContextOptions, type TLSSocket } from 'node:tls';
import type { Address } from '#lib/address.ts';
import { formatAddress, joinHostPort } from '#lib/address.ts';
import type { Clock } from '#lib/clock.ts';
import { asError, ProjectError, TimeoutError } from '#lib/errors.ts';

/** An outbound HTTP proxy that is asked to CONNECT. */
export interface HttpProxy {
  readonly host: string;
  readonly port: number;
  readonly username?: string | undefined;
  readonly password?: string | undefined;
}

export interface DialOptions {
  address: Address;
  /** Protocol names to offer; none for SDK style connections. */
  alpn?: readonly string[];
  /** Client certificate, key and roots. Without `ca` the system's roots are used. */
  context: SecureContextOptions;
  /** Local IP address to leave by. */
  localAddress?: string | undefined;
  proxy?: HttpProxy | undefined;
  /** Milliseconds for connecting and the TLS handshake together. */
  timeout: number;
  clock: Clock;
  signal?: AbortSignal | undefined;
}

/** A proxy's answer is a status line and a few headers; more is no proxy. */
const LONGEST_PROXY_ANSWER = 16 * 1024;

export class DialError extends ProjectError {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super('DIAL_FAILED', message, { retriable: true, ...options });
  }
}

/** Resolves with a connected, verified TLS socket. Rejects with DialError or TimeoutError; nothing is left open then. */
export async function dialTls(options: DialOptions): Promise<TLSSocket> {
  const where = formatAddress(options.address);
  if (options.address.type !== 'tls') throw new DialError(`${where}: only tls addresses can be dialed here`);
  const { signal: late, timer } = options.clock.deadline(
    'dial',
    options.timeout,
    () => new TimeoutError(`dialing ${where}`, options.timeout),
  );
  const signal = options.signal ? AbortSignal.any([late, options.signal]) : late;
  try {
    const raw = options.proxy ? await connectThroughProxy(options, options.proxy, signal) : undefined;
    return await handshake(options, raw, signal);
  } catch (error) {
    if (signal.aborted) throw asError(signal.reason);
    throw new DialError(`${where}: ${asError(error).message}`, { cause: error });
  } finally {
    timer.cancel();
  }
}

function handshake(options: DialOptions, raw: Socket | undefined, signal: AbortSignal): Promise<TLSSocket> {
  const host = options.address.host || 'localhost';
  const target = raw
    ? { socket: raw }
    : { port: options.address.port, host, ...(options.localAddress && { localAddress: options.localAddress }) };
  const socket = connectTls({
    minVersion: 'TLSv1.2',
    ...options.context,
    ...target,
    host,
    allowPartialTrustChain: true,
    ...(isIP(host) === 0 && { servername: host }),
    ...(options.alpn && { ALPNProtocols: [...options.alpn] }),
  });
  return untilEvent(socket, 'secureConnect', signal);
}

/** Resolves with a TCP connection through the proxy. Rejects with DialError, the system's error or the signal's reason. */
export async function connectThroughProxy(
  options: Pick<DialOptions, 'address' | 'localAddress'>,
  proxy: HttpProxy,
  signal: AbortSignal,
): Promise<Socket> {
  const target = joinHostPort(options.address.host, options.address.port);
  const socket = connectTcp({
    host: proxy.host,
    port: proxy.port,
    ...(options.localAddress && { localAddress: options.localAddress }),
  });
  await untilEvent(socket, 'connect', signal);
  const lines = [`CONNECT ${target} HTTP/1.1`, `Host: ${target}`];
  if (proxy.username !== undefined) {
    const credentials = Buffer.from(`${proxy.username}:${proxy.password ?? ''}`).toString('base64');
    lines.push(`Proxy-Authorization: Basic ${credentials}`);
  }
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  let answer = '';
  while (!answer.includes('\r\n\r\n')) {
    await untilEvent(socket, 'readable', signal);
    const byte = socket.read(1) as Buffer | null; // one at a time: what follows the answer belongs to TLS
    if (byte === null) continue;
    answer += byte.toString('latin1');
    if (answer.length > LONGEST_PROXY_ANSWER) break;
  }
  const status = /^HTTP\/1\.[01] (\d{3})[^\r\n]*/.exec(answer);
  if (status?.[1] !== '200') {
    socket.destroy();
    throw new DialError(
      `the proxy ${joinHostPort(proxy.host, proxy.port)} refused to connect (${status?.[0] ?? 'no HTTP answer'})`,
    );
  }
  return socket;
}

/** Waits for `event`; an error, a close or the signal destroys the socket and rejects. */
function untilEvent<S extends Socket>(socket: S, event: string, signal: AbortSignal): Promise<S> {
  return new Promise((resolve, reject) => {
    const finish = () => {
      socket.off(event, onEvent);
      socket.off('error', onError);
      socket.off('close', onClose);
      signal.removeEventListener('abort', onAbort);
    };
    const fail = (error: Error) => {
      finish();
      socket.on('error', () => undefined); // the first error has been reported; a second one while closing says nothing new
      socket.destroy();
      reject(error);
    };
    const onEvent = () => (finish(), resolve(socket));
    const onError = (error: Error) => fail(error);
    const onClose = () => fail(new DialError('the connection was closed'));
    const onAbort = () => fail(asError(signal.reason));
    socket.once(event, onEvent);
    socket.once('error', onError);
    socket.once('close', onClose);
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
  });
}
