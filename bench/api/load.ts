// Requests to a server for a while, over a fixed number of connections: how many were answered in a second.

import { Agent, request } from 'undici';

export interface Target {
  readonly url: string;
  readonly method: 'GET' | 'POST';
  readonly token?: string;
  /** A new body for each request. */
  readonly body?: (count: number) => unknown;
}

export const CONNECTIONS = 16;

/** Resolves to answers per second; rejects for an answer that does not grant the request. */
export async function load(agent: Agent, target: Target, milliseconds: number): Promise<number> {
  const end = performance.now() + milliseconds;
  let count = 0;
  const started = performance.now();
  const worker = async () => {
    while (performance.now() < end) await ask(agent, target, count++);
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, worker));
  return (count * 1000) / (performance.now() - started);
}

export async function ask(agent: Agent, { url, method, token, body }: Target, count = 0): Promise<string> {
  const response = await request(url, {
    method,
    dispatcher: agent,
    headers: {
      ...(token !== undefined && { 'zt-session': token }),
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body(count)) }),
  });
  const text = await response.body.text();
  if (response.statusCode >= 300) throw new Error(`${method} ${url}: ${response.statusCode} ${text.slice(0, 300)}`);
  return text;
}

/** Verification is what is measured on the server, not here. */
export function newAgent(): Agent {
  return new Agent({ connect: { rejectUnauthorized: false }, connections: CONNECTIONS, pipelining: 1 });
}
