// The counters of circuit ends under their names in the registry. Meters are looked up once, because they change with
// each payload.

import type { MetricsRegistry } from '../metrics/registry.ts';
import type { XgressMetrics } from './xgress-metrics.ts';

interface MeasuredEnd {
  readonly unacknowledged: { bytes: number; payloads: number };
  /** The window for which its client waits, if any. */
  readonly blockedBy: 'window' | 'peer' | undefined;
  /** Number of acknowledgements that are due. */
  readonly unsentAcks: number;
}

/** The size of one payload in this many is recorded: a histogram needs a sample only. */
const SIZE_SAMPLE = 16;

/** @param open Returns the open ends, for the gauges. */
export function registryXgressMetrics(registry: MetricsRegistry, open: () => Iterable<MeasuredEnd>): XgressMetrics {
  const meter = (name: string) => registry.meter(name);
  const role = (side: string) => ({
    txBytes: meter(`${side}.tx.bytesrate`),
    txMessages: meter(`${side}.tx.msgrate`),
    rxBytes: meter(`${side}.rx.bytesrate`),
    rxMessages: meter(`${side}.rx.msgrate`),
    txSize: registry.histogram(`${side}.tx.msgsize`),
    rxSize: registry.histogram(`${side}.rx.msgsize`),
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
  const writeTime = registry.timer('xgress.tx_write_time');
  const relayMessages = meter('xgress.edge.dropped_msgs');
  const relayDrops = {
    payload: meter('xgress.edge.dropped_payloads'),
    acknowledgement: meter('xgress.edge.dropped_acks'),
  };
  registry.gauge('xgress.acks.queue_size', () => total(open(), ({ unsentAcks }) => unsentAcks));
  for (const [name, reason] of [
    ['local', 'window'],
    ['remote', 'peer'],
  ] as const)
    registry.gauge(`xgress.blocked_by_${name}_window`, () =>
      total(open(), ({ blockedBy }) => Number(blockedBy === reason)),
    );
  let sent = 0;
  let received = 0;
  registry.gauge('xgress.tx_unacked_payloads', () => total(open(), ({ unacknowledged }) => unacknowledged.payloads));
  registry.gauge('xgress.tx_unacked_payload_bytes', () => total(open(), ({ unacknowledged }) => unacknowledged.bytes));
  return {
    // Bytes from the client count as rx of the edge, as in the reference.
    sent(side, bytes) {
      sides[side].rxBytes.mark(bytes);
      sides[side].rxMessages.mark();
      if (sent++ % SIZE_SAMPLE === 0) sides[side].rxSize.update(bytes);
    },
    received(side, bytes) {
      sides[side].txBytes.mark(bytes);
      sides[side].txMessages.mark();
      if (received++ % SIZE_SAMPLE === 0) sides[side].txSize.update(bytes);
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
    clientPausedFor: (milliseconds) => writeTime.update(milliseconds),
    relayDropped(what) {
      relayMessages.mark();
      relayDrops[what].mark();
    },
  };
}

function total(ends: Iterable<MeasuredEnd>, of: (end: MeasuredEnd) => number): number {
  let sum = 0;
  for (const end of ends) sum += of(end);
  return sum;
}
