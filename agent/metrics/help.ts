// The help texts of the Prometheus page, by metric name without ids (`link.latency`, `pool.queue_size`). A text begins
// in lower case and has no full stop: prometheus.ts builds sentences from it. `metrics.test.ts` compares the names with
// docs/reference/metrics.md.

const POOL = {
  'pool.queue_size': 'number of tasks that wait in the queue of the pool',
  'pool.worker_count': 'number of tasks that the pool may run at once',
  'pool.busy_workers': 'number of tasks that the pool runs',
  'pool.work_timer': 'time that a task of the pool takes, in nanoseconds',
  'pool.wait_timer': 'time that a task waits in the queue of the pool, in nanoseconds',
  'pool.rejected': 'number of tasks that the pool rejected because its queue was full',
  'ctrl_limiter.in_process': 'number of rate-limited requests that no controller has answered yet',
  'ctrl_limiter.window_size':
    'number of rate-limited requests that may wait for an answer in parallel (ctrl.rateLimiter)',
  'ctrl_limiter.work_timer': 'time that controllers take for a rate-limited request, in nanoseconds',
};

const LINKS = {
  'link.latency': 'round trip of the link, in nanoseconds',
  'link.queue_time': 'time that a message waits in the send queue of the link, in nanoseconds',
  'link.path.rate': 'number of bytes that the path of the link carries in a second, as measured under load',
  'link.path.round_trip': 'last round trip on the path of the link, queues of the path included, in nanoseconds',
  'link.path.shortest_round_trip': 'round trip on the path of the link without queues, in nanoseconds',
  'link.path.window': 'number of bytes that may be on the path of the link',
  'link.path.on_the_way': 'number of bytes on the path of the link',
  'link.path.waiting_bytes': 'number of bytes that wait for the path of the link',
  'link.path.waiting_circuits': 'number of circuits that wait for the path of the link',
  'link.dropped_msgs': 'number of messages that a full send queue of the link dropped',
  'link.dropped_xg_msgs': 'number of new payloads that a full send queue of the link dropped',
  'link.dropped_rtx_msgs': 'number of retransmitted payloads that a full send queue of the link dropped',
  'link.dropped_fwd_msgs': 'number of forwarded payloads that a full send queue of the link dropped',
  ...traffic('fabric.tx', 'messages', 'sent over all links'),
  ...traffic('fabric.rx', 'messages', 'received over all links'),
  ...traffic('link.tx', 'messages', 'sent over the link'),
  ...traffic('link.rx', 'messages', 'received over the link'),
};

const CIRCUIT_ENDS = {
  ...traffic('ingress.tx', 'payloads', 'sent to clients of dialing ends'),
  ...traffic('ingress.rx', 'payloads', 'received from clients of dialing ends'),
  ...traffic('egress.tx', 'payloads', 'sent to clients of hosting ends'),
  ...traffic('egress.rx', 'payloads', 'received from clients of hosting ends'),
  'xgress.tx.acks': 'number of acknowledgements that were sent',
  'xgress.ack_failures': 'number of acknowledgements that could not be sent',
  'xgress.rx.acks': 'number of acknowledgements that were received',
  'xgress.ack_duplicates': 'number of acknowledgements of payloads that were already acknowledged',
  'xgress.payload_duplicates': 'number of payloads that were received twice',
  'xgress.dropped_payloads':
    'number of dropped payloads: the receive buffer was full, or an SDK client exceeded its window',
  'xgress.retransmissions': 'number of payloads that were retransmitted',
  'xgress.retransmission_failures': 'number of payloads that could not be retransmitted',
  'xgress.blocked_by_local_window_rate': 'number of times that a client had to wait for the window of its own end',
  'xgress.blocked_by_remote_window_rate': 'number of times that a client had to wait for the window of its peer',
  'xgress.tx_write_time': 'time that clients took for data that they could not accept at once, in nanoseconds',
  'xgress.blocked_time': 'time that clients had to wait for a window, in nanoseconds',
  'xgress.acks.queue_size': 'number of acknowledgements that are due',
  'xgress.blocked_by_local_window': 'number of clients that wait for the window of their own end',
  'xgress.blocked_by_remote_window': 'number of clients that wait for the window of their peer',
  'xgress.tx_unacked_payloads': 'number of payloads that are not acknowledged',
  'xgress.tx_unacked_payload_bytes': 'number of bytes in payloads that are not acknowledged',
  'xgress.buffered_bytes': 'number of bytes in the buffers of all ends',
  'xgress.ends': 'number of circuit ends at this router',
};

const EDGE = {
  'edge.connections': 'number of connected SDK clients',
  'edge.connect.successes': 'number of SDK clients that were accepted',
  'edge.connect.failures': 'number of SDK clients that were rejected',
  'edge.disconnects': 'number of SDK clients that disconnected',
  'edge.invalid_api_tokens': 'number of tokens that belong to no session',
  'edge.invalid_api_tokens_during_sync':
    'number of tokens that belonged to no session before the data model had arrived',
  'edge.foreign_frames': "number of frames for other clients' circuits",
  'xgress.edge.dropped_msgs': 'number of messages to SDK clients that a full queue dropped',
  'xgress.edge.dropped_payloads': 'number of payloads to SDK clients that a full queue dropped',
  'xgress.edge.dropped_acks': 'number of acknowledgements to SDK clients that a full queue dropped',
  'xgress_edge.long_data_queue_time': 'time above 5 ms that data of SDK clients waited, in nanoseconds',
  'xgress_edge_tunnel.terminator.create_timer':
    'time that controllers took for terminators of the tunneler, in nanoseconds',
};

/** Text of each metric. */
export const METRIC_HELP: Readonly<Record<string, string>> = Object.freeze({
  ...POOL,
  ...LINKS,
  ...CIRCUIT_ENDS,
  ...EDGE,
  'faults.circuit': 'number of forwarding faults that were reported to controllers',
  'faults.link': 'number of routes over unknown links',
  'forwarder.foreign_payloads': 'number of payloads from a source that their circuit does not use',
  'forwarder.foreign_acks': 'number of acknowledgements from a source that their circuit does not use',
  'control.channels': 'number of connected controllers',
  links: 'number of links',
  circuits: 'number of circuits through this router',
});

function traffic(name: string, units: string, way: string): Record<string, string> {
  return {
    [`${name}.bytesrate`]: `number of bytes ${way}`,
    [`${name}.msgrate`]: `number of ${units} ${way}`,
    [`${name}.msgsize`]: `size of ${units} ${way}, in bytes`,
  };
}

/** Sentence for the help line of a metric. A metric without a text gets its name in words. */
export function helpSentence(name: string, kind: 'value' | 'quantiles' | 'mean' | 'count' = 'value'): string {
  const text = METRIC_HELP[name] ?? `value of ${name.replace(/[^a-zA-Z0-9]+/g, ' ')}`;
  switch (kind) {
    case 'quantiles':
      return `Quantiles of a sample of the ${text}.`;
    case 'mean':
      return `Mean of a sample of the ${text}.`;
    case 'count':
      return `Number of measurements of the ${text}.`;
    default:
      return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
  }
}
