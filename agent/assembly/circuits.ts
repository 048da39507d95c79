// Builds all parts that handle circuits: the table, the ends on this router, the service dialers, and the scanners that
// keep the table clean.

import type { TaskQueue } from '#lib/queue/task-queue.ts';
import { ControlType } from '#wire/gen/numbers.ts';
import type { Controllers } from '../control/controllers.ts';
import { onRoute } from '../control/messages/route.ts';
import { onUnroute } from '../control/messages/unroute.ts';
import { datagramDialer } from '../egress/datagram.ts';
import { serviceFailureReason } from '../egress/dial-errors.ts';
import { DialsInProgress } from '../egress/dials-in-progress.ts';
import { Egress } from '../egress/egress.ts';
import { transportDialer } from '../egress/transport.ts';
import type { Circuit } from '../forwarder/circuit-table.ts';
import { Faulter } from '../forwarder/faulter.ts';
import { Forwarder } from '../forwarder/forwarder.ts';
import { IdleScanner } from '../forwarder/idle-scanner.ts';
import { Unrouter } from '../forwarder/unrouter.ts';
import { meteredQueue } from '../metrics/metered-queue.ts';
import type { MetricsRegistry } from '../metrics/registry.ts';
import { CircuitEnds } from '../xgress/circuit-ends.ts';
import { IdleSweeper } from '../xgress/clients/idle-sweeper.ts';
import type { RouterContext } from './context.ts';
import { httpProxy, xgressOptionsFor } from './settings.ts';

/** Idle timeout and sweep interval of UDP sessions in milliseconds, the defaults of the tunneler. */
const UDP_IDLE = { timeout: 300_000, interval: 30_000 };

export interface Circuits {
  readonly forwarder: Forwarder;
  readonly ends: CircuitEnds;
  readonly egress: Egress;
  /** Queue of rate-limited requests for circuits and terminators. */
  readonly rateLimited: TaskQueue;
  /** Reports to the circuit's controller that its frames cannot be forwarded. */
  onUnroutable(circuitId: string): void;
}

export function assembleCircuits(context: RouterContext, controllers: Controllers): Circuits {
  const { config, clock, io, metrics } = context;
  const log = context.component('forwarder');
  const foreign = metrics.meter('forwarder.foreign_payloads');
  const foreignAcks = metrics.meter('forwarder.foreign_acks');
  const forwarder = new Forwarder({ clock, log, routerId: context.routerId, foreign, foreignAcks });
  reportFabricUsage(forwarder, metrics);
  const faults = metrics.meter('faults.circuit');
  const faulter = context.own(new Faulter({ clock, log, controllers, faults }, config.forwarder.faultTxInterval));
  controllers.onConnect(() => faulter.flush());
  const onUnroutable = (circuitId: string) => faulter.report(circuitId, forwarder.circuits.get(circuitId)?.owner ?? '');
  const ends = new CircuitEnds({
    clock,
    buffers: io.buffers,
    log: context.component('xgress'),
    forwarder,
    metrics,
    faulter,
    onUnroutable,
  });
  const { rateLimitedQueueLength, rateLimitedWorkerCount } = config.forwarder;
  const rateLimited = context.own(
    meteredQueue(metrics, clock, 'pool.rate_limiter', rateLimitedQueueLength, rateLimitedWorkerCount),
  );
  return { forwarder, ends, egress: assembleEgress(context), rateLimited, onUnroutable };
}

/** Reports the usage of circuits on links. */
function reportFabricUsage(forwarder: Forwarder, metrics: MetricsRegistry): void {
  const report = ({ id, fabric }: Circuit) => {
    metrics.usage.add(id, 'fabric', fabric);
    fabric.rx = 0;
    fabric.tx = 0;
  };
  forwarder.onCircuitRemoved(report);
  metrics.usage.addSource(() => {
    for (const circuit of forwarder.circuits.values()) report(circuit);
  });
}

function assembleEgress(context: RouterContext): Egress {
  const { config, clock, io, identity } = context;
  const log = context.component('egress');
  const egress = new Egress(log);
  const sweeper = context.own(new IdleSweeper(clock, UDP_IDLE));
  for (const binding of ['transport', 'edge_transport'] as const) {
    const { connectTimeout } = xgressOptionsFor(config, binding);
    const encryption = binding === 'edge_transport';
    const init = {
      connectTimeout,
      encryption,
      hopType: `xgress/${binding}`,
      proxy: httpProxy(config.transport?.proxy),
    };
    egress.use(binding, transportDialer({ io, log, identity, sweeper }, init));
  }
  const { connectTimeout } = xgressOptionsFor(config, 'transport_udp');
  egress.use('transport_udp', datagramDialer({ io, log, sweeper }, { connectTimeout }));
  return egress;
}

/** Handles the controllers' routes and unroutes. `onMissingLink` receives the id of an unknown link in a route. */
export function serveRoutes(
  context: RouterContext,
  controllers: Controllers,
  { forwarder, ends, egress }: Circuits,
  onMissingLink: (linkId: string) => void,
): void {
  const { config, clock, metrics } = context;
  const log = context.component('forwarder');
  const {
    idleTxInterval,
    idleCircuitTimeout,
    xgressCloseCheckInterval,
    xgressDialQueueLength,
    xgressDialWorkerCount,
    xgressDialDwellTime,
  } = config.forwarder;
  const scanner = new IdleScanner(
    { clock, log, forwarder, controllers },
    { interval: idleTxInterval, timeout: idleCircuitTimeout },
  );
  const unrouter = new Unrouter({ clock, log, forwarder }, xgressCloseCheckInterval);
  const queue = meteredQueue(metrics, clock, 'pool.route.handler', xgressDialQueueLength, xgressDialWorkerCount);
  context.own(scanner);
  context.own(unrouter);
  context.own(queue);
  const dials = new DialsInProgress();
  controllers.on(ControlType.Unroute, onUnroute(unrouter, dials));
  controllers.onConnect(({ id }) => scanner.onConnect(id));
  forwarder.onLinkLost((linkId) => scanner.onLinkLost(linkId));
  controllers.on(
    ControlType.Route,
    onRoute({
      clock,
      log: context.component('route'),
      forwarder,
      egress,
      ends,
      queue,
      dials,
      onMissingLink,
      optionsFor: (binding) => xgressOptionsFor(config, binding),
      dwellTime: xgressDialDwellTime,
      acceptsCircuits: context.acceptsCircuits,
      onDialFailed: (error) => context.dialFailures.count('service', serviceFailureReason(error)),
    }),
  );
}
