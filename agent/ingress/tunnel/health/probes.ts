// The two probes of a hosted service: a TCP connection, and an HTTP request.

import { Agent, interceptors, request } from 'undici';
import type { Clock } from '#lib/clock.ts';
import { ProjectError } from '#lib/errors.ts';
import { dialSocket } from '../../../egress/socket-dial.ts';
import type { CheckConfig, HttpProbe, PortProbe } from './check-config.ts';

/** Bytes of an answer that are searched for the expected text. */
const LARGEST_ANSWER = 1024 * 1024;
const MOST_REDIRECTS = 10;

/** The service gave an unexpected answer. */
class ProbeError extends ProjectError {
  constructor(message: string) {
    super('HEALTH_PROBE', message);
  }
}

/** Resolves if the service is healthy. Rejects with the reason if it is not, or with the signal's reason. */
export async function probe(
  { probe: what, timeout }: CheckConfig,
  { clock, signal }: { clock: Clock; signal: AbortSignal },
): Promise<void> {
  const late = clock.deadline('health probe', timeout, () => new ProbeError(`no answer within ${timeout} ms`));
  const options = { clock, timeout, signal: AbortSignal.any([signal, late.signal]) };
  try {
    await (what.kind === 'port' ? probePort(what, options) : probeHttp(what, options));
  } finally {
    late.timer.cancel();
  }
}

async function probePort(
  { host, port }: PortProbe,
  options: { clock: Clock; timeout: number; signal: AbortSignal },
): Promise<void> {
  const { socket } = await dialSocket({ type: 'tcp', host, port }, options);
  socket.destroy();
}

/** Opens its own connection, to see the service as a new client would. */
async function probeHttp(
  { url, method, body, expectStatus, expectInBody }: HttpProbe,
  { signal }: { signal: AbortSignal },
): Promise<void> {
  const agent = new Agent({ connect: { timeout: 0 } });
  const dispatcher = agent.compose(interceptors.redirect({ maxRedirections: MOST_REDIRECTS }));
  try {
    const answer = await request(url, { method: method as 'GET', body: body ?? null, dispatcher, signal });
    if (answer.statusCode !== expectStatus)
      throw new ProbeError(`the answer has status ${answer.statusCode} instead of ${expectStatus}`);
    if (expectInBody === undefined) return;
    let text = '';
    for await (const chunk of answer.body.setEncoding('utf8')) {
      text += chunk;
      if (text.includes(expectInBody)) return;
      if (text.length > LARGEST_ANSWER) break;
    }
    throw new ProbeError(`the answer does not contain ${JSON.stringify(expectInBody)}`);
  } finally {
    await agent.destroy();
  }
}
