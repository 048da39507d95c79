// The two probes of a hosted service: a TCP connection, and an HTTP request.

import type { Clock } from '#lib/clock.ts';
import { dialSocket } from '../../../egress/socket-dial.ts';
import type { CheckConfig, HttpProbe, PortProbe } from './check-config.ts';
import { ProbeError } from './probe-error.ts';

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

/** The HTTP client is large, and most routers host no service with such a probe: it is loaded for the first one. */
async function probeHttp(what: HttpProbe, options: { signal: AbortSignal }): Promise<void> {
  const client = await import('./http-probe.ts');
  await client.probeHttp(what, options);
}

async function probePort(
  { host, port }: PortProbe,
  options: { clock: Clock; timeout: number; signal: AbortSignal },
): Promise<void> {
  const { socket } = await dialSocket({ type: 'tcp', host, port }, options);
  socket.destroy();
}
