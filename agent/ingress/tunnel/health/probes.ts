// The two probes of a hosted service: a TCP connection, and an HTTP request.

import type { IoContext } from '#lib/net/io-context.ts';
import { dialSocket } from '../../../egress/socket-dial.ts';
import type { CheckConfig, HttpProbe, PortProbe } from './check-config.ts';
import { ProbeError } from './probe-error.ts';

interface ProbeOptions {
  readonly io: IoContext;
  readonly timeout: number;
  readonly signal: AbortSignal;
}

/** Resolves if the service is healthy. Rejects with the reason if it is not, or with the signal's reason. */
export async function probe(
  { probe: what, timeout }: CheckConfig,
  { io, signal }: { io: IoContext; signal: AbortSignal },
): Promise<void> {
  const run = what.kind === 'port' ? probePort.bind(undefined, what) : await httpProbe(what);
  const late = io.clock.deadline('health probe', timeout, () => new ProbeError(`no answer within ${timeout} ms`));
  try {
    await run({ io, timeout, signal: AbortSignal.any([signal, late.signal]) });
  } finally {
    late.timer.cancel();
  }
}

/**
 * The HTTP client is large, and most routers host no service with such a probe: it is loaded for the first one. On a
 * small machine this takes longer than some timeouts.
 */
async function httpProbe(what: HttpProbe): Promise<(options: ProbeOptions) => Promise<void>> {
  const { probeHttp } = await import('./http-probe.ts');
  return (options) => probeHttp(what, options);
}

async function probePort({ host, port }: PortProbe, options: ProbeOptions): Promise<void> {
  const { socket } = await dialSocket({ type: 'tcp', host, port }, options);
  socket.destroy();
}
