// A configuration file with every key, which both routers start with, and its variants with one empty value.

import { type Document, isMap, isScalar, isSeq, parseDocument } from 'yaml';

type Path = readonly (string | number)[];

export interface Variant {
  /** `link.dialers[0].groups` */
  readonly path: string;
  readonly text: string;
}

/** @param port The text before two further digits of each port, for example 190. */
export function fullConfig(folder: string, port: string): string {
  return TEMPLATE.replaceAll('FOLDER', folder).replaceAll('PORT', port);
}

/** The file with null in place of each of its values in turn, or with an empty text in place of each of its texts. */
export function emptied(text: string, value: null | ''): Variant[] {
  const parsed = parseDocument(text, { version: '1.1' });
  return [...places(parsed.contents, [])].flatMap((place) => {
    if (value === '' && typeof parsed.getIn(place) !== 'string') return [];
    const changed: Document = parsed.clone();
    changed.setIn(place, value);
    return [{ path: pathOf(place), text: String(changed) }];
  });
}

function* places(node: unknown, at: Path): Generator<Path> {
  if (at.length > 0) yield at;
  if (isSeq(node)) for (const [index, item] of node.items.entries()) yield* places(item, [...at, index]);
  if (!isMap(node)) return;
  for (const { key, value } of node.items) if (isScalar(key)) yield* places(value, [...at, String(key.value)]);
}

function pathOf(place: Path): string {
  return place
    .map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`))
    .join('')
    .slice(1);
}

const TEMPLATE = `v: 3
enableDebugOps: false
identity:
  cert: FOLDER/r.cert
  server_cert: FOLDER/r.cert
  key: FOLDER/r.key
  server_key: FOLDER/r.key
  ca: FOLDER/r.ca
  alt_server_certs:
    - server_cert: FOLDER/r.cert
      server_key: FOLDER/r.key
ctrl:
  endpoint: tls:127.0.0.1:9
  endpoints: ["tls:127.0.0.1:9"]
  bind: 127.0.0.1
  defaultRequestTimeout: 5s
  startupTimeout: 30s
  endpointsFile: e.yml
  options:
    outQueueSize: 4
    maxQueuedConnects: 1
    maxOutstandingConnects: 16
    connectTimeout: 5s
    connectTimeoutMs: 5000
    writeTimeout: 0s
  heartbeats:
    sendInterval: 10s
    checkInterval: 1s
    closeUnresponsiveTimeout: 30s
    unresponsiveAfter: 5s
  rateLimiter:
    enabled: true
    minSize: 5
    maxSize: 250
    timeout: 30s
    successThreshold: 0.9
    increaseFactor: 1.02
    decreaseFactor: 0.9
    increaseCheckInterval: 10
    decreaseCheckInterval: 10
  listeners:
    - bind: tls:127.0.0.1:PORT01
      advertise: tls:127.0.0.1:PORT01
      bindInterface: 127.0.0.1
      groups: [default]
      options: {outQueueSize: 4, maxQueuedConnects: 1, maxOutstandingConnects: 16, connectTimeout: 5s, connectTimeoutMs: 5000, writeTimeout: 0s}
csr:
  country: US
  province: NC
  locality: Charlotte
  organization: Example
  organizationalUnit: Net
  sans:
    dns: [localhost]
    ip: [127.0.0.1]
    uri: ["spiffe://example"]
    email: [a@b.example]
edge:
  heartbeatIntervalSeconds: 60
  sessionValidateChunkSize: 1000
  sessionValidateMinInterval: 250ms
  sessionValidateMaxInterval: 1500ms
  db: r.db
  dbSaveIntervalSeconds: 30
  apiProxy: {listener: "127.0.0.1:PORT02", upstream: "127.0.0.1:9"}
forwarder:
  faultTxInterval: 15000
  idleCircuitTimeout: 60000
  idleTxInterval: 60000
  linkDialQueueLength: 1000
  linkDialWorkerCount: 32
  rateLimitedQueueLength: 5000
  rateLimitedWorkerCount: 15
  unresponsiveLinkTimeout: 60s
  xgressCloseCheckInterval: 5000
  xgressDialDwellTime: 0
  xgressDialQueueLength: 1000
  xgressDialWorkerCount: 128
  latencyProbeInterval: 10
healthChecks:
  ctrlPingCheck: {interval: 30s, timeout: 15s, initialDelay: 15s}
  linkCheck: {interval: 5s, initialDelay: 1s, minLinks: 0}
link:
  listeners:
    - binding: transport
      bind: tls:127.0.0.1:PORT03
      advertise: tls:127.0.0.1:PORT03
      bindInterface: 127.0.0.1
      groups: [default]
      options: {outQueueSize: 4, maxQueuedConnects: 1, maxOutstandingConnects: 16, connectTimeout: 5s, connectTimeoutMs: 5000, writeTimeout: 0s}
  dialers:
    - binding: transport
      split: true
      bind: 127.0.0.1
      bindInterface: 127.0.0.1
      groups: [default]
      maxDefaultConnections: 3
      maxAckConnections: 1
      startupDelay: 3s
      options: {outQueueSize: 4, maxQueuedConnects: 1, maxOutstandingConnects: 16, connectTimeout: 5s, connectTimeoutMs: 5000, writeTimeout: 0s}
      healthyDialBackoff: {minRetryInterval: 5s, maxRetryInterval: 5m, retryBackoffFactor: 1.5}
      unhealthyDialBackoff: {minRetryInterval: 1m, maxRetryInterval: 1h, retryBackoffFactor: 10}
  heartbeats: {sendInterval: 10s, checkInterval: 1s, closeUnresponsiveTimeout: 60s}
  payloadSenderQueueSize: 128
  ackSenderQueueSize: 64
listeners:
  - binding: edge
    address: tls:127.0.0.1:PORT04
    options:
      advertise: 127.0.0.1:PORT04
      outQueueSize: 4
      maxQueuedConnects: 1
      maxOutstandingConnects: 16
      connectTimeout: 5s
      connectTimeoutMs: 5000
      writeTimeout: 0s
      lookupSessionTimeout: 5s
      lookupApiSessionTimeout: 5s
      mtu: 0
      randomDrops: false
      drop1InN: 100
      txQueueSize: 1
      txPortalStartSize: 4194304
      txPortalMinSize: 16384
      txPortalMaxSize: 4194304
      txPortalIncreaseThresh: 28
      txPortalIncreaseScale: 1.0
      txPortalRetxThresh: 64
      txPortalRetxScale: 0.75
      txPortalDupAckThresh: 64
      txPortalDupAckScale: 0.9
      rxBufferSize: 4194304
      retxStartMs: 200
      retxScale: 1.5
      retxAddMs: 0
      retxMaxMs: 10000
      maxRttScale: 4
      maxCloseWaitMs: 30000
      getCircuitTimeout: 30s
      circuitStartTimeout: 3m
  - binding: tunnel
    options:
      mode: host
      svcPollRate: 15s
      resolver: udp://127.0.0.1:53
      dnsSvcIpRange: 100.64.0.1/10
      dnsUpstream: udp://127.0.0.53:53
      dnsUpstreamMode: parallel
      dnsUnanswerable: refused
      services: ["s:PORT05"]
      lanIf: lo
      udpIdleTimeout: 1m
      udpCheckInterval: 10s
  - binding: edge
    address: wss:127.0.0.1:PORT11
    options: {advertise: "127.0.0.1:PORT11"}
  - binding: transport
    address: tcp:127.0.0.1:PORT06
    options: {advertise: "127.0.0.1:PORT06"}
  - binding: transport_udp
    address: udp:127.0.0.1:PORT07
    options: {mtu: 0}
  - binding: proxy
    address: tcp:127.0.0.1:PORT08
    service: s
    options: {mtu: 0}
  - binding: proxy_udp
    address: udp:127.0.0.1:PORT09
    service: s
    options: {mtu: 0}
dialers:
  - binding: transport
    options: {mtu: 0, connectTimeout: 5s}
metrics:
  reportInterval: 1m
  intervalAgeThreshold: 80s
  messageQueueSize: 10
  eventQueueSize: 256
  enableDataDelayMetric: false
trace: {path: r.trace}
profile:
  cpu: {path: r.cpu}
  memory: {path: r.mem, intervalMs: 15000}
transport:
  protocol: x
  handshakeTimeout: 5s
  proxy: {type: http, address: "127.0.0.1:9", username: u, password: p}
  wss: {writeTimeout: 10, readTimeout: 5, idleTimeout: 120, pongTimeout: 60, pingInterval: 54, handshakeTimeout: 10, readBufferSize: 4096, writeBufferSize: 4096, enableCompression: true, identity: {cert: FOLDER/r.cert, server_cert: FOLDER/r.cert, key: FOLDER/r.key, ca: FOLDER/r.ca}}
  westworld3: {profile_version: 1, tx_portal_min_sz: 1, tx_portal_max_sz: 1, instrument: {name: nn, path: p, snapshot_ms: 1, enabled: true}}
tls: {handshakeTimeout: 5s}
proxy: {type: http, address: "127.0.0.1:9", username: u, password: p}
plugins: []
connectEvents: {enabled: true, batchInterval: 3s, fullSyncInterval: 5m, maxQueuedEvents: 100000}
interfaceDiscovery: {disabled: false, checkInterval: 1m, minReportInterval: 24h}
managedConfig: {allow: [router.link]}
web:
  - name: w
    bindPoints: [{interface: "127.0.0.1:PORT10", address: "127.0.0.1:PORT10", newAddress: "127.0.0.1:PORT10"}]
    identity: {cert: FOLDER/r.cert, server_cert: FOLDER/r.cert, key: FOLDER/r.key, ca: FOLDER/r.ca}
    options: {readTimeout: 5s, writeTimeout: 10s, idleTimeout: 5s, minTLSVersion: TLS1.2, maxTLSVersion: TLS1.3}
    apis: [{binding: health-checks, options: {}}]
`;
