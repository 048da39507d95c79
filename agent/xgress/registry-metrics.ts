// The counters of circuit ends under their names in the registry. Meters are looked up once: this is called per payload.

import type { MetricsRegistry } from '../metrics/registry.ts';
import type { XgressMetrics } from './xgress-metrics.ts';

/** `open` answers the ends that are open now, for the gauges. */
export function registryXgressMetrics(
  registry: MetricsRegistry,
  open: () => Iterable<{ readonly unacknowledged: { bytes: number; payloads: number } }>,
): XgressMetrics {
  const meter = (name: string) => registry.meter(name);
  const role = (side: string) => ({
    txBytes: meter(`${side}.tx.bytesrate`),
    txMessages: meter(`${side}.tx.msgrate`),
    rxBytes: meter(`${side}.rx.bytesrate`),
    rxMessages: meter(`${side}.rx.msgrate`),
  });
  const sides = { initiator: role('ingress'), terminator: role('egress') };
  const txAcks = meter('xgress.tx.acks');
  const ackFailures = meter('xgress.ack_failures');
  const rxAcks = meter('xgress.rx.acks');
  const ackDuplicates = meter('xgress.ack_duplicates');
  const payloadDuplicates = meter('xgress.payload_duplicates');
  const dropped = meter('xgress.dropped_payloads');
  const retransmissions = meter('xgress.retransmissions');
  const retransmissionFailures = meter('xgress.retransmission_failures');
  const byWindow = meter('xgress.blocked_by_local_window_rate');
  const byPeer = meter('xgress.blocked_by_remote_window_rate');
  const blockedTime = registry.timer('xgress.blocked_time');
  registry.gauge('xgress.tx_unacked_payloads', () => sum(open(), 'payloads'));
  registry.gauge('xgress.tx_unacked_payload_bytes', () => sum(open(), 'bytes'));
  return {
    // What the client of an end gives is received by it and sent into the network: rx for the edge, as the reference counts.
    sent(side, bytes) {
      sides[side].rxBytes.mark(bytes);
      sides[side].rxMessages.mark();
    },
    received(side, bytes) {
      sides[side].txBytes.mark(bytes);
      sides[side].txMessages.mark();
    },
    acknowledgementSent: () => txAcks.mark(),
    acknowledgementFailed: () => ackFailures.mark(),
    acknowledgementReceived: () => rxAcks.mark(),
    duplicateAck: () => ackDuplicates.mark(),
    duplicatePayload: () => payloadDuplicates.mark(),
    droppedPayload: () => dropped.mark(),
    retransmitted: () => retransmissions.mark(),
    retransmissionFailed: () => retransmissionFailures.mark(),
    blockedByWindow: () => byWindow.mark(),
    blockedByPeer: () => byPeer.mark(),
    blockedFor: (milliseconds) => blockedTime.update(milliseconds),
  };
}

function sum(
  ends: Iterable<{ readonly unacknowledged: { bytes: number; payloads: number } }>,
  key: 'bytes' | 'payloads',
): number {
  let total = 0;
  for (const end of ends) total += end.unacknowledged[key];
  return total;
}
