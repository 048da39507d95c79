// The two ways to ask whether a hosted service works: a TCP connection, an HTTP request.

import { Agent, interceptors, request } from 'undici';
import type { Clock } from '#lib/clock.ts';
import { ProjectError } from '#lib/errors.ts';
import { dialSocket } from '../../../egress/socket-dial.ts';
import type { CheckConfig, HttpProbe, PortProbe } from './check-config.ts';

/** Bytes of an answer in which a text is looked for. */
const LARGEST_ANSWER = 1024 * 1024;
const MOST_REDIRECTS = 10;

/** The service answered, and not as expected. */
class ProbeError extends ProjectError {
  constructor(message: string) {
    super('HEALTH_PROBE', message);
  }
}

/** Resolves when the service is well. Rejects with the reason when it is not, and with the signal's when that comes first. */
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

/** With a connection of its own, so that it sees what a new client of the service would see. */
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
