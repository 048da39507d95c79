// Opens the connections of an enrollment through the HTTP proxy that the environment names, as the reference's client
// does. The section `proxy` of the configuration is for channels and links only.

import type { Socket } from 'node:net';
import { TimeoutError } from '#lib/errors.ts';
import type { Clock } from '#lib/time/clock.ts';
import { connectThroughProxy } from '#wire/connection/dial.ts';
import { type Environment, proxyFromEnvironment } from '#wire/connection/environment-proxy.ts';

export interface ControllerSocketOptions {
  readonly clock: Clock;
  /** Milliseconds to connect. */
  readonly timeout: number;
  /** Variables such as HTTPS_PROXY and NO_PROXY. */
  readonly environment: Environment;
}

const HTTPS_PORT = 443;

/** Host without brackets, and port. */
export function targetOf(url: URL): { host: string; port: number } {
  return { host: url.hostname.replace(/^\[(.*)\]$/, '$1'), port: Number(url.port || HTTPS_PORT) };
}

/**
 * Resolves with a TCP connection to the controller through the proxy; with undefined if the environment names no proxy
 * for it. Rejects with DialError, TimeoutError, or ProjectError for an invalid variable.
 */
export async function openThroughProxy(url: URL, options: ControllerSocketOptions): Promise<Socket | undefined> {
  const { host, port } = targetOf(url);
  const proxy = proxyFromEnvironment(host, port, options.environment);
  if (!proxy) return undefined;
  const { clock, timeout } = options;
  const late = () => new TimeoutError(`connecting through the proxy ${proxy.host}:${proxy.port}`, timeout);
  const { signal, timer } = clock.deadline('enrollment proxy', timeout, late);
  try {
    return await connectThroughProxy({ address: { type: 'tls', host, port } }, proxy, signal);
  } finally {
    timer.cancel();
  }
}
