// The metrics of the registry on the Prometheus page, by their names in the messages to controllers without ids
// (`link.latency`, `pool.queue_size`). The page follows the conventions of Prometheus: base units, `_total`, labels
// instead of parts of names. docs/reference/metrics.md lists both kinds of names, and metrics.test.ts compares them.

import type { Labels, MetricDefinition } from '#lib/text/exposition.ts';

export interface PageMetric extends MetricDefinition {
  /** Labels in addition to those of the pool or link. */
  readonly labels: Labels;
  /** Converts values of the registry to the base unit. */
  readonly divisor: number;
}

const ROUTER_PREFIX = 'edgeweave_router_';
const NANOSECONDS = 1e9;

export function gauge(name: string, help: string): MetricDefinition {
  return { name: ROUTER_PREFIX + name, type: 'gauge', help };
}

export function counter(name: string, help: string): MetricDefinition {
  return { name: ROUTER_PREFIX + name, type: 'counter', help };
}

function summary(name: string, help: string): MetricDefinition {
  return { name: ROUTER_PREFIX + name, type: 'summary', help };
}

function plain(definition: MetricDefinition, labels: Labels = {}): PageMetric {
  return { ...definition, labels, divisor: 1 };
}

/** The registry has nanoseconds, the page seconds. */
function time(definition: MetricDefinition, labels: Labels = {}): PageMetric {
  return { ...definition, labels, divisor: NANOSECONDS };
}

/** Bytes, messages and sizes in both directions. */
function traffic(prefix: string, page: string, units: string, where: string, labels: Labels = {}) {
  const ways = ['tx', 'rx'] as const;
  return Object.fromEntries(
    ways.flatMap((direction) => {
      const all = { ...labels, direction };
      const size = units.slice(0, -1);
      return [
        [`${prefix}.${direction}.bytesrate`, plain(counter(`${page}_bytes_total`, `Bytes ${where}.`), all)],
        [
          `${prefix}.${direction}.msgrate`,
          plain(counter(`${page}_${units}_total`, `Number of ${units} ${where}.`), all),
        ],
        [
          `${prefix}.${direction}.msgsize`,
          plain(summary(`${page}_${size}_size_bytes`, `Sizes of a sample of the ${units} ${where}.`), all),
        ],
      ];
    }),
  ) as Record<string, PageMetric>;
}

const POOL: Readonly<Record<string, PageMetric>> = {
  'pool.queue_size': plain(gauge('pool_queue_size', 'Number of tasks that wait in the queue of the pool.')),
  'pool.worker_count': plain(gauge('pool_workers', 'Number of tasks that the pool may run at once.')),
  'pool.busy_workers': plain(gauge('pool_busy_workers', 'Number of tasks that the pool runs.')),
  'pool.work_timer': time(summary('pool_work_seconds', 'Durations of the tasks of the pool.')),
  'pool.wait_timer': time(summary('pool_wait_seconds', 'Waits of tasks in the queue of the pool.')),
  'pool.rejected': plain(
    counter('pool_rejected_total', 'Number of tasks that the pool rejected because its queue was full.'),
  ),
  'ctrl_limiter.in_process': plain(
    gauge('ctrl_limiter_in_process', 'Number of rate-limited requests that no controller has answered yet.'),
  ),
  'ctrl_limiter.window_size': plain(
    gauge('ctrl_limiter_window_size', 'Number of rate-limited requests that may wait for an answer at once.'),
  ),
  'ctrl_limiter.work_timer': time(
    summary('ctrl_limiter_work_seconds', 'Times that controllers took to answer rate-limited requests.'),
  ),
};

const DROPS = counter('link_dropped_messages_total', 'Number of payloads that a full send queue of the link dropped.');
const LINKS: Readonly<Record<string, PageMetric>> = {
  ...traffic('fabric', 'fabric', 'messages', 'on all links, by direction'),
  ...traffic('link', 'link', 'messages', 'on the link, by direction'),
  'link.latency': time(summary('link_round_trip_seconds', 'Round trips of heartbeats on the link.')),
  'link.queue_time': time(summary('link_queue_seconds', 'Waits of messages in the send queue of the link.')),
  'link.dropped_xg_msgs': plain(DROPS, { kind: 'new' }),
  'link.dropped_rtx_msgs': plain(DROPS, { kind: 'retransmission' }),
  'link.dropped_fwd_msgs': plain(DROPS, { kind: 'forwarded' }),
  'link.path.rate': plain(
    gauge('link_path_bytes_per_second', 'Rate that the path of the link carries, as measured under load.'),
  ),
  'link.path.round_trip': time(
    gauge('link_path_round_trip_seconds', 'Last round trip on the path of the link, with the queues of the path.'),
  ),
  'link.path.shortest_round_trip': time(
    gauge('link_path_shortest_round_trip_seconds', 'Round trip on the path of the link without queues.'),
  ),
  'link.path.window': plain(gauge('link_path_window_bytes', 'Bytes that may be on the path of the link at once.')),
  'link.path.on_the_way': plain(gauge('link_path_on_the_way_bytes', 'Bytes on the path of the link.')),
  'link.path.waiting_bytes': plain(gauge('link_path_waiting_bytes', 'Bytes that wait for the path of the link.')),
  'link.path.waiting_circuits': plain(
    gauge('link_path_waiting_circuits', 'Number of circuits that wait for the path of the link.'),
  ),
};

const ENDS = 'of clients at the ends of circuits, by role of the end and direction';
const ACKS = counter('xgress_acknowledgements_total', 'Number of acknowledgements, by direction.');
const WINDOW_WAITS = counter('xgress_window_waits_total', 'Number of times that a client had to wait for a window.');
const WAITING = gauge('xgress_waiting_clients', 'Number of clients that wait for a window.');
const CIRCUIT_ENDS: Readonly<Record<string, PageMetric>> = {
  ...traffic('ingress', 'xgress', 'payloads', ENDS, { role: 'ingress' }),
  ...traffic('egress', 'xgress', 'payloads', ENDS, { role: 'egress' }),
  'xgress.tx.acks': plain(ACKS, { direction: 'tx' }),
  'xgress.rx.acks': plain(ACKS, { direction: 'rx' }),
  'xgress.ack_failures': plain(
    counter('xgress_acknowledgement_failures_total', 'Number of acknowledgements that could not be sent.'),
  ),
  'xgress.ack_duplicates': plain(
    counter('xgress_duplicate_acknowledgements_total', 'Number of acknowledgements of acknowledged payloads.'),
  ),
  'xgress.payload_duplicates': plain(
    counter('xgress_duplicate_payloads_total', 'Number of payloads that were received twice.'),
  ),
  'xgress.dropped_payloads': plain(
    counter('xgress_dropped_payloads_total', 'Number of payloads beyond a receive buffer or the window of a client.'),
  ),
  'xgress.retransmissions': plain(
    counter('xgress_retransmissions_total', 'Number of payloads that were retransmitted.'),
  ),
  'xgress.retransmission_failures': plain(
    counter('xgress_retransmission_failures_total', 'Number of payloads that could not be retransmitted.'),
  ),
  'xgress.blocked_by_local_window_rate': plain(WINDOW_WAITS, { window: 'local' }),
  'xgress.blocked_by_remote_window_rate': plain(WINDOW_WAITS, { window: 'remote' }),
  'xgress.blocked_by_local_window': plain(WAITING, { window: 'local' }),
  'xgress.blocked_by_remote_window': plain(WAITING, { window: 'remote' }),
  'xgress.blocked_time': time(summary('xgress_window_wait_seconds', 'Waits of clients for a window.')),
  'xgress.tx_write_time': time(
    summary('xgress_client_write_seconds', 'Times that clients took for data that they could not accept at once.'),
  ),
  'xgress.acks.queue_size': plain(
    gauge('xgress_due_acknowledgements', 'Number of acknowledgements that are to be sent.'),
  ),
  'xgress.tx_unacked_payloads': plain(
    gauge('xgress_unacknowledged_payloads', 'Number of payloads that are not acknowledged.'),
  ),
  'xgress.tx_unacked_payload_bytes': plain(
    gauge('xgress_unacknowledged_bytes', 'Bytes of payloads that are not acknowledged.'),
  ),
  'xgress.buffered_bytes': plain(gauge('xgress_buffered_bytes', 'Bytes in the buffers of all ends of circuits.')),
  'xgress.ends': plain(gauge('circuit_ends', 'Number of ends of circuits at this router.')),
};

const CONNECTS = counter('edge_connects_total', 'Number of SDK clients that connected, by result.');
const EDGE_DROPS = counter(
  'edge_dropped_messages_total',
  'Number of messages to SDK clients that a full queue dropped.',
);
const EDGE: Readonly<Record<string, PageMetric>> = {
  'edge.connections': plain(gauge('edge_clients', 'Number of connected SDK clients.')),
  'edge.connect.successes': plain(CONNECTS, { result: 'accepted' }),
  'edge.connect.failures': plain(CONNECTS, { result: 'rejected' }),
  'edge.disconnects': plain(counter('edge_disconnects_total', 'Number of SDK clients that disconnected.')),
  'edge.invalid_api_tokens': plain(
    counter('edge_invalid_tokens_total', 'Number of tokens of SDK clients that belong to no session.'),
  ),
  'edge.invalid_api_tokens_during_sync': plain(
    counter('edge_invalid_tokens_during_sync_total', 'Number of invalid tokens before the data model had arrived.'),
  ),
  'edge.foreign_frames': plain(
    counter('edge_foreign_frames_total', 'Number of frames of SDK clients for circuits of other clients.'),
  ),
  'xgress.edge.dropped_payloads': plain(EDGE_DROPS, { kind: 'payload' }),
  'xgress.edge.dropped_acks': plain(EDGE_DROPS, { kind: 'acknowledgement' }),
  'xgress_edge.long_data_queue_time': time(
    summary('edge_long_data_queue_seconds', 'Waits of data of SDK clients that were longer than 5 milliseconds.'),
  ),
  'xgress_edge_tunnel.terminator.create_timer': time(
    summary('tunnel_terminator_create_seconds', 'Times that controllers took to create terminators of the tunneler.'),
  ),
};

const CONNECTIONS = gauge('thread_connections', 'Number of connections that the I/O thread carries, by kind.');
const THREAD_BYTES = counter('thread_bytes_total', 'Bytes of the connections of the I/O thread, by direction.');
const THREADS: Readonly<Record<string, PageMetric>> = {
  'thread.utilization': {
    ...gauge(
      'thread_utilization_ratio',
      'Share of the last five seconds in which the event loop of the thread had work.',
    ),
    labels: {},
    divisor: 100,
  },
  'thread.loop_delay': time(
    gauge(
      'thread_loop_delay_seconds',
      'How late the thread came to what was due, in the last five seconds, 99th percentile.',
    ),
  ),
  'thread.longest_loop_delay': time(
    gauge(
      'thread_longest_loop_delay_seconds',
      'How late the thread came to what was due, in the last five seconds, at most.',
    ),
  ),
  'thread.clients': plain(CONNECTIONS, { kind: 'client' }),
  'thread.links': plain(CONNECTIONS, { kind: 'link' }),
  'thread.accepted': plain(CONNECTIONS, { kind: 'accepted' }),
  'thread.tx.bytesrate': plain(THREAD_BYTES, { direction: 'tx' }),
  'thread.rx.bytesrate': plain(THREAD_BYTES, { direction: 'rx' }),
};

const FOREIGN = counter(
  'forwarder_foreign_frames_total',
  'Number of payloads and acknowledgements from a source that their circuit does not use.',
);

/** The metric on the page for each name of the registry. */
export const PAGE_METRICS: Readonly<Record<string, PageMetric>> = Object.freeze({
  ...POOL,
  ...LINKS,
  ...CIRCUIT_ENDS,
  ...EDGE,
  ...THREADS,
  'faults.circuit': plain(
    counter('circuit_faults_total', 'Number of forwarding faults that were reported to controllers.'),
  ),
  'faults.link': plain(
    counter('unknown_link_routes_total', 'Number of routes over links that this router does not have.'),
  ),
  'forwarder.foreign_payloads': plain(FOREIGN, { kind: 'payload' }),
  'forwarder.foreign_acks': plain(FOREIGN, { kind: 'acknowledgement' }),
  circuits: plain(gauge('circuits', 'Number of circuits through this router.')),
});
