// Sends requests to a server for some time over a fixed number of connections; measures answers per second and their
// times.

import { Agent, request } from 'undici';

export interface Target {
  /** The URL, or the URL of each request. */
  readonly url: string | ((count: number) => string);
  readonly method: 'GET' | 'POST';
  readonly token?: string;
  /** Returns a new body for each request. */
  readonly body?: (count: number) => unknown;
}

export const CONNECTIONS = 16;

export interface Load {
  /** Answers per second. */
  readonly rate: number;
  /** Milliseconds from a request to its answer. */
  readonly p50: number;
  readonly p99: number;
}

/** Rejects for an error answer. */
export async function load(agent: Agent, target: Target, milliseconds: number): Promise<Load> {
  const times: number[] = [];
  let count = 0;
  const started = performance.now();
  const end = started + milliseconds;
  const worker = async () => {
    for (let since = performance.now(); since < end; ) {
      await ask(agent, target, count++);
      const now = performance.now();
      times.push(now - since);
      since = now;
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, worker));
  const rate = (times.length * 1000) / (performance.now() - started);
  times.sort((a, b) => a - b);
  const at = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0;
  return { rate, p50: at(0.5), p99: at(0.99) };
}

export async function ask(agent: Agent, { url, method, token, body }: Target, count = 0): Promise<string> {
  const at = typeof url === 'string' ? url : url(count);
  const response = await request(at, {
    method,
    dispatcher: agent,
    headers: {
      ...(token !== undefined && { 'zt-session': token }),
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body(count)) }),
  });
  const text = await response.body.text();
  if (response.statusCode >= 300) throw new Error(`${method} ${at}: ${response.statusCode} ${text.slice(0, 300)}`);
  return text;
}

/** Skips certificate verification: only the server is measured. */
export function newAgent(): Agent {
  return new Agent({ connect: { rejectUnauthorized: false }, connections: CONNECTIONS, pipelining: 1 });
}
