// Generated from router.schema.json by `npm run generate`. Do not edit.
// A checked configuration: durations are milliseconds, addresses are parsed, defaults are filled in.

import type { Address } from '#lib/net/address.ts';

export interface HostPort {
  readonly host: string;
  readonly port: number;
}

export interface IdentityConfig {
  /** Client certificate chain, leaf first: a path, `file:///path` or `pem:` text. */
  readonly cert?: string;
  /** Server certificate chain; default: the client certificate. */
  readonly server_cert?: string;
  /** Private key of cert, and of server_cert if server_key is missing. */
  readonly key?: string;
  /** Private key of server_cert. */
  readonly server_key?: string;
  /** Certificates of trusted authorities; default: those of the system. */
  readonly ca?: string;
  /** Further server certificates. */
  readonly alt_server_certs: readonly ({
    /** Server certificate chain, selected by the server name of a client's request. */
    readonly server_cert: string;
    /** Its private key; default: the main key. */
    readonly server_key?: string;
  })[];
}

export interface ChannelOptionsConfig {
  /** Limit on messages waiting to be sent to a controller. */
  readonly outQueueSize: number;
  /** Accepted for compatibility: maxOutstandingConnects alone limits the hellos. */
  readonly maxQueuedConnects: number;
  /** Limit on hellos in progress. */
  readonly maxOutstandingConnects: number;
  /** Timeout for connecting, the TLS handshake and the hello. */
  readonly connectTimeout: number;
  /** Older form of connectTimeout, in milliseconds; used if that is missing. */
  readonly connectTimeoutMs?: number;
  /** Time limit of one write; a connection that exceeds it is closed. 0s: no limit. */
  readonly writeTimeout: number;
}

export interface ControlListenerOptionsConfig {
  /** Accepted for compatibility: ctrl.options.outQueueSize applies to all control channels. */
  readonly outQueueSize: number;
  /** Accepted for compatibility: maxOutstandingConnects alone limits the hellos. */
  readonly maxQueuedConnects: number;
  /** Limit on hellos in progress. */
  readonly maxOutstandingConnects: number;
  /** Timeout for connecting, the TLS handshake and the hello. */
  readonly connectTimeout: number;
  /** Older form of connectTimeout, in milliseconds; used if that is missing. */
  readonly connectTimeoutMs?: number;
  /** Time limit of one write; a connection that exceeds it is closed. 0s: no limit. */
  readonly writeTimeout: number;
}

export interface CtrlConfig {
  /** Address of the controller. Takes precedence over endpoints. Without both, enrollment takes the addresses of the token. */
  readonly endpoint?: Address;
  /** Addresses of controllers. Once connected, the router keeps the list up to date with the cluster. */
  readonly endpoints?: readonly Address[];
  /** Interface name or local IP address to dial from. */
  readonly bind?: string;
  /** Timeout of a request to a controller. */
  readonly defaultRequestTimeout: number;
  /** The router stops if it reaches no controller within this time after its start; 0s or less: no limit. */
  readonly startupTimeout: number;
  /** File in which enrollment and the running router store the addresses of controllers; default: `endpoints.yml` beside this file, or `endpoints.ID.yml` if that belongs to another router. */
  readonly endpointsFile?: string;
  /** Channel options. */
  readonly options: ChannelOptionsConfig;
  /** Heartbeats. */
  readonly heartbeats: {
    /** Time between heartbeats; 0s or less: one at each check. */
    readonly sendInterval: number;
    /** Time between checks of the state. */
    readonly checkInterval: number;
    /** The connection is closed if no heartbeat is answered for this time. */
    readonly closeUnresponsiveTimeout: number;
    /** Latency above which requests prefer other controllers. */
    readonly unresponsiveAfter: number;
  };
  /** Adaptive limit of requests to controllers. */
  readonly rateLimiter?: {
    /** Adapt the number of requests in progress to the response time of controllers. */
    readonly enabled: boolean;
    /** Minimum window: requests in progress. */
    readonly minSize: number;
    /** Maximum window. */
    readonly maxSize: number;
    /** Time after which an unanswered request counts as failed. */
    readonly timeout: number;
    /** Success rate above which the window grows. */
    readonly successThreshold: number;
    /** Factor by which the window grows. */
    readonly increaseFactor: number;
    /** Factor by which the window shrinks. */
    readonly decreaseFactor: number;
    /** Answers between checks for growth. */
    readonly increaseCheckInterval: number;
    /** Answers between checks for shrinking. */
    readonly decreaseCheckInterval: number;
  };
  /** Listeners for controllers that dial routers. */
  readonly listeners: readonly ({
    /** Address on which controllers may dial this router. Port 0: a free one, which is advertised. */
    readonly bind: Address;
    /** Address that is advertised to controllers; default: bind. Port 0: the port that is open. */
    readonly advertise?: Address;
    /** Name of the interface. */
    readonly bindInterface?: string;
    /** Groups of the listener. */
    readonly groups: readonly string[];
    /** Channel options. */
    readonly options: ControlListenerOptionsConfig;
  })[];
}

export interface CsrConfig {
  /** Country of the subject. */
  readonly country?: string;
  /** Province of the subject. */
  readonly province?: string;
  /** Locality of the subject. */
  readonly locality?: string;
  /** Organization of the subject. */
  readonly organization?: string;
  /** Organizational unit of the subject. */
  readonly organizationalUnit?: string;
  /** Subject alternative names. At least one is required to accept SDK or router connections. */
  readonly sans: {
    /** DNS names. */
    readonly dns: readonly string[];
    /** IP addresses. */
    readonly ip: readonly string[];
    /** URIs. */
    readonly uri: readonly string[];
    /** Mail addresses. */
    readonly email: readonly string[];
  };
}

export interface EdgeConfig {
  /** Deprecated place of csr. */
  readonly csr?: CsrConfig;
  /** Seconds between reports of the sessions in use. */
  readonly heartbeatIntervalSeconds: number;
  /** Service sessions of legacy API sessions in one question to a controller that returns: which of them has it removed? */
  readonly sessionValidateChunkSize: number;
  /** Shortest pause between two such questions. */
  readonly sessionValidateMinInterval: number;
  /** Longest pause between two such questions. */
  readonly sessionValidateMaxInterval: number;
  /** File in which the router keeps the data model between runs; default: the path of the configuration with `.proto.gzip`. An enrollment removes it. */
  readonly db?: string;
  /** Seconds between two writes of the changed data model to `db`. */
  readonly dbSaveIntervalSeconds: number;
  /** HTTPS listener that forwards requests to the API of a controller. */
  readonly apiProxy?: {
    /** `host:port` to listen on. Port 0: a free one, which `router inspect FILE` names. */
    readonly listener: HostPort;
    /** `host:port` of the controller's API. */
    readonly upstream: HostPort;
  };
}

export interface ForwarderConfig {
  /** Time between reports of circuits that could not be forwarded, in milliseconds; 0 or less disables. */
  readonly faultTxInterval: number;
  /** Time without traffic after which the router asks the controller about a circuit, in milliseconds. */
  readonly idleCircuitTimeout: number;
  /** Time between scans for idle circuits, in milliseconds; 0 or less disables. */
  readonly idleTxInterval: number;
  /** Limit on waiting link dials; further ones are dialed later. */
  readonly linkDialQueueLength: number;
  /** Limit on parallel link dials. A router that reconnects to N routers needs N / workers × seconds of a dial; unreachable peers occupy a worker for their whole connectTimeout. */
  readonly linkDialWorkerCount: number;
  /** Limit on waiting rate-limited requests to controllers; further ones are rejected. */
  readonly rateLimitedQueueLength: number;
  /** Limit on parallel rate-limited requests. Needed: requests per second × seconds of an answer. */
  readonly rateLimitedWorkerCount: number;
  /** Accepted for compatibility; link.heartbeats.closeUnresponsiveTimeout applies instead. At least 5s. */
  readonly unresponsiveLinkTimeout: number;
  /** Wait before an idle circuit is removed, in milliseconds. */
  readonly xgressCloseCheckInterval: number;
  /** Wait before a service is dialed, in milliseconds; 0 or less: no wait. */
  readonly xgressDialDwellTime: number;
  /** Limit on waiting service dials; further ones are rejected. A burst of N dials needs N places, less those that workers take; the last one waits length × seconds of a dial / workers. */
  readonly xgressDialQueueLength: number;
  /** Limit on parallel service dials. Needed: new circuits per second × seconds of a dial, and half as many more for bursts. 400 dials a second of 50 ms: 20, better 30. */
  readonly xgressDialWorkerCount: number;
  /** Accepted for compatibility; heartbeats measure link latency. */
  readonly latencyProbeInterval?: number;
}

export interface HealthChecksConfig {
  /** Whether a responsive controller is connected. */
  readonly ctrlPingCheck: {
    /** Time between checks. */
    readonly interval: number;
    /** Accepted for compatibility: the check looks at the last heartbeats and does not wait. */
    readonly timeout: number;
    /** Wait before the first check. */
    readonly initialDelay: number;
  };
  /** Whether enough links are established. */
  readonly linkCheck: {
    /** Time between checks. */
    readonly interval: number;
    /** Wait before the first check. */
    readonly initialDelay: number;
    /** The check fails with fewer links than this; 0 only reports them. */
    readonly minLinks: number;
  };
}

export interface LinkChannelOptionsConfig {
  /** Accepted for compatibility: payloadSenderQueueSize and ackSenderQueueSize limit what waits for a link. */
  readonly outQueueSize: number;
  /** Accepted for compatibility: maxOutstandingConnects alone limits the hellos. */
  readonly maxQueuedConnects: number;
  /** Limit on hellos in progress. */
  readonly maxOutstandingConnects: number;
  /** Timeout for connecting, the TLS handshake and the hello. */
  readonly connectTimeout: number;
  /** Older form of connectTimeout, in milliseconds; used if that is missing. */
  readonly connectTimeoutMs?: number;
  /** Time limit of one write; a connection that exceeds it is closed. 0s: no limit. */
  readonly writeTimeout: number;
}

export interface LinkListenerConfig {
  /** Always transport. */
  readonly binding: 'transport' | '';
  /** `tls:host:port` to listen on. Port 0: a free one, which is advertised. */
  readonly bind: Address;
  /** Address that other routers dial; default: bind. Port 0: the port that is open. */
  readonly advertise?: Address;
  /** Name of the interface; default: derived from the address. */
  readonly bindInterface?: string;
  /** Groups of the listener. */
  readonly groups: readonly string[];
  /** Channel options. */
  readonly options: LinkChannelOptionsConfig;
}

export interface BackoffConfig {
  /** Wait after the first failure. */
  readonly minRetryInterval: number;
  /** Maximum wait. */
  readonly maxRetryInterval: number;
  /** Each wait is the previous one multiplied by this factor ± 0.5. */
  readonly retryBackoffFactor: number;
}

export interface LinkDialerConfig {
  /** Always transport. */
  readonly binding: 'transport' | '';
  /** Separate connections for payloads and acknowledgements, for routers that do not support grouped links. */
  readonly split: boolean;
  /** Interface name or local IP address to dial from. */
  readonly bind?: string;
  /** The same as bind, and takes precedence over it. */
  readonly bindInterface?: string;
  /** Groups of the dialer: it dials only listeners with a common group. */
  readonly groups: readonly string[];
  /** Connections of a link that carry payloads. */
  readonly maxDefaultConnections: number;
  /** Connections of a link that carry acknowledgements. */
  readonly maxAckConnections: number;
  /** Wait before further connections of a link are dialed. */
  readonly startupDelay: number;
  /** Channel options. */
  readonly options: LinkChannelOptionsConfig;
  /** Retry policy while the other router is connected to a controller. */
  readonly healthyDialBackoff: BackoffConfig;
  /** Retry policy while the other router is not connected to a controller. */
  readonly unhealthyDialBackoff: BackoffConfig;
}

export interface LinkConfig {
  /** Listeners for links that other routers dial. */
  readonly listeners: readonly LinkListenerConfig[];
  /** Dialers of links to other routers. */
  readonly dialers: readonly LinkDialerConfig[];
  /** Heartbeats. */
  readonly heartbeats: {
    /** Accepted for compatibility: links send a heartbeat every 10s, as in the reference. */
    readonly sendInterval: number;
    /** Accepted for compatibility: links are checked every second, as in the reference. */
    readonly checkInterval: number;
    /** The connection is closed if no heartbeat is answered for this time. */
    readonly closeUnresponsiveTimeout: number;
  };
  /** Limit on the payloads of one circuit that wait for a link, in units of 64 KiB. Circuits take turns, and senders slow down before the limit. All links of a router hold at most 64 MiB. */
  readonly payloadSenderQueueSize: number;
  /** Limit on acknowledgements waiting for a link. */
  readonly ackSenderQueueSize: number;
}

export interface EdgeListenerOptions {
  /** Accepted for compatibility: a payload contains one read. */
  readonly mtu: number;
  /** Accepted for compatibility: this router never drops payloads on purpose. */
  readonly randomDrops: boolean;
  /** Accepted for compatibility, as randomDrops. */
  readonly drop1InN: number;
  /** Accepted for compatibility: the windows limit the payloads that wait for their consumer. */
  readonly txQueueSize: number;
  /** Initial send window, in bytes: the limit on unacknowledged bytes of a circuit. The link decides how many of them are on its path at a time. */
  readonly txPortalStartSize: number;
  /** Minimum send window, in bytes. */
  readonly txPortalMinSize: number;
  /** Maximum send window, in bytes; also the limit on unread bytes at the peer. */
  readonly txPortalMaxSize: number;
  /** Acknowledged payloads per increase of the window. */
  readonly txPortalIncreaseThresh: number;
  /** Ratio of the acknowledged bytes that is added to the window. */
  readonly txPortalIncreaseScale: number;
  /** Retransmissions per decrease of the window. */
  readonly txPortalRetxThresh: number;
  /** Factor of that decrease. */
  readonly txPortalRetxScale: number;
  /** Duplicate acknowledgements per increase of the retransmission scale. */
  readonly txPortalDupAckThresh: number;
  /** Accepted for compatibility; has no effect. */
  readonly txPortalDupAckScale: number;
  /** Limit on bytes held for the consumer. */
  readonly rxBufferSize: number;
  /** Initial age at which a payload may be retransmitted, in milliseconds. It is retransmitted if it has left the first link, and if later payloads were acknowledged or none is. */
  readonly retxStartMs: number;
  /** Retransmission age as a multiple of the round trip time; at least the round trip and four times its mean deviation. */
  readonly retxScale: number;
  /** Added to that age, in milliseconds. */
  readonly retxAddMs: number;
  /** Maximum retransmission age, in milliseconds; 0: no limit. */
  readonly retxMaxMs: number;
  /** A measured round trip counts as at most this multiple of the previous one; 0: no limit. */
  readonly maxRttScale: number;
  /** Time that a closing end waits for a sign of life of its peer, in milliseconds. The circuit is cut after it. */
  readonly maxCloseWaitMs: number;
  /** Timeout for the controller to create a circuit. */
  readonly getCircuitTimeout: number;
  /** Time that the terminating end waits for the first payload. */
  readonly circuitStartTimeout: number;
  /** Timeout for connecting, the TLS handshake and the hello. */
  readonly connectTimeout: number;
  /** Limit on the payloads of one circuit that wait for a client, in units of 64 KiB. */
  readonly outQueueSize: number;
  /** Accepted for compatibility: maxOutstandingConnects alone limits the hellos. */
  readonly maxQueuedConnects: number;
  /** Limit on hellos in progress. */
  readonly maxOutstandingConnects: number;
  /** Older form of connectTimeout, in milliseconds; used if that is missing. */
  readonly connectTimeoutMs?: number;
  /** Time limit of one write; a connection that exceeds it is closed. 0s: no limit. */
  readonly writeTimeout: number;
  /** `host:port` that is advertised to SDKs. Port 0: the port that is open. */
  readonly advertise: HostPort;
  /** Accepted for compatibility: sessions are verified without a lookup. */
  readonly lookupSessionTimeout: number;
  /** Time to wait for the API session that a client names. */
  readonly lookupApiSessionTimeout: number;
}

export interface EdgeListenerConfig {
  /** SDK connections. */
  readonly binding: 'edge';
  /** `tls:host:port` or `wss:host:port` to listen on. */
  readonly address: Address;
  /** Options. */
  readonly options: EdgeListenerOptions;
}

export interface TunnelListenerOptions {
  /** Accepted for compatibility: a payload contains one read. */
  readonly mtu: number;
  /** Accepted for compatibility: this router never drops payloads on purpose. */
  readonly randomDrops: boolean;
  /** Accepted for compatibility, as randomDrops. */
  readonly drop1InN: number;
  /** Accepted for compatibility: the windows limit the payloads that wait for their consumer. */
  readonly txQueueSize: number;
  /** Initial send window, in bytes: the limit on unacknowledged bytes of a circuit. The link decides how many of them are on its path at a time. */
  readonly txPortalStartSize: number;
  /** Minimum send window, in bytes. */
  readonly txPortalMinSize: number;
  /** Maximum send window, in bytes; also the limit on unread bytes at the peer. */
  readonly txPortalMaxSize: number;
  /** Acknowledged payloads per increase of the window. */
  readonly txPortalIncreaseThresh: number;
  /** Ratio of the acknowledged bytes that is added to the window. */
  readonly txPortalIncreaseScale: number;
  /** Retransmissions per decrease of the window. */
  readonly txPortalRetxThresh: number;
  /** Factor of that decrease. */
  readonly txPortalRetxScale: number;
  /** Duplicate acknowledgements per increase of the retransmission scale. */
  readonly txPortalDupAckThresh: number;
  /** Accepted for compatibility; has no effect. */
  readonly txPortalDupAckScale: number;
  /** Limit on bytes held for the consumer. */
  readonly rxBufferSize: number;
  /** Initial age at which a payload may be retransmitted, in milliseconds. It is retransmitted if it has left the first link, and if later payloads were acknowledged or none is. */
  readonly retxStartMs: number;
  /** Retransmission age as a multiple of the round trip time; at least the round trip and four times its mean deviation. */
  readonly retxScale: number;
  /** Added to that age, in milliseconds. */
  readonly retxAddMs: number;
  /** Maximum retransmission age, in milliseconds; 0: no limit. */
  readonly retxMaxMs: number;
  /** A measured round trip counts as at most this multiple of the previous one; 0: no limit. */
  readonly maxRttScale: number;
  /** Time that a closing end waits for a sign of life of its peer, in milliseconds. The circuit is cut after it. */
  readonly maxCloseWaitMs: number;
  /** Timeout for the controller to create a circuit. */
  readonly getCircuitTimeout: number;
  /** Time that the terminating end waits for the first payload. */
  readonly circuitStartTimeout: number;
  /** Timeout for dialing a service; 0s: the time that the controller waits for the circuit. */
  readonly connectTimeout: number;
  /** host: hosts services of Bind policies. proxy: listens for the listed services, and hosts. tproxy: intercepts services of Dial policies, answers DNS, and hosts. `tproxy:PROGRAM` diverts traffic with a program of the operator. */
  readonly mode: string;
  /** Accepted for compatibility; controllers push services. */
  readonly svcPollRate: number;
  /** Name server of tproxy mode: `udp://host:port` or `file:///path`. */
  readonly resolver: readonly string[];
  /** Range of the addresses that the name server assigns. */
  readonly dnsSvcIpRange: string;
  /** Upstream name servers for names that the router does not know. */
  readonly dnsUpstream: readonly string[];
  /** Order in which several upstreams are queried. */
  readonly dnsUpstreamMode: 'parallel' | 'serial' | 'failover' | 'random' | '';
  /** Answer for names that no server knows. */
  readonly dnsUnanswerable: 'timeout' | 'servfail' | 'refused' | '';
  /** Proxy mode: `SERVICE:PORT` or `SERVICE:PORT:tcp|udp`. Port 0: a free one, which `router inspect FILE` names. */
  readonly services: readonly string[];
  /** Interfaces whose traffic is accepted in tproxy mode, by rules of the program `iptables`. */
  readonly lanIf: readonly string[];
  /** Time after which a UDP session without traffic ends. */
  readonly udpIdleTimeout: number;
  /** Time between checks for idle UDP sessions. */
  readonly udpCheckInterval: number;
}

export interface TunnelListenerConfig {
  /** The router as a tunneler: hosting, proxy listeners, transparent interception. */
  readonly binding: 'tunnel';
  /** Not used. */
  readonly address?: string;
  /** Options. */
  readonly options: TunnelListenerOptions;
}

export interface TransportListenerOptions {
  /** Accepted for compatibility: a payload contains one read. */
  readonly mtu: number;
  /** Accepted for compatibility: this router never drops payloads on purpose. */
  readonly randomDrops: boolean;
  /** Accepted for compatibility, as randomDrops. */
  readonly drop1InN: number;
  /** Accepted for compatibility: the windows limit the payloads that wait for their consumer. */
  readonly txQueueSize: number;
  /** Initial send window, in bytes: the limit on unacknowledged bytes of a circuit. The link decides how many of them are on its path at a time. */
  readonly txPortalStartSize: number;
  /** Minimum send window, in bytes. */
  readonly txPortalMinSize: number;
  /** Maximum send window, in bytes; also the limit on unread bytes at the peer. */
  readonly txPortalMaxSize: number;
  /** Acknowledged payloads per increase of the window. */
  readonly txPortalIncreaseThresh: number;
  /** Ratio of the acknowledged bytes that is added to the window. */
  readonly txPortalIncreaseScale: number;
  /** Retransmissions per decrease of the window. */
  readonly txPortalRetxThresh: number;
  /** Factor of that decrease. */
  readonly txPortalRetxScale: number;
  /** Duplicate acknowledgements per increase of the retransmission scale. */
  readonly txPortalDupAckThresh: number;
  /** Accepted for compatibility; has no effect. */
  readonly txPortalDupAckScale: number;
  /** Limit on bytes held for the consumer. */
  readonly rxBufferSize: number;
  /** Initial age at which a payload may be retransmitted, in milliseconds. It is retransmitted if it has left the first link, and if later payloads were acknowledged or none is. */
  readonly retxStartMs: number;
  /** Retransmission age as a multiple of the round trip time; at least the round trip and four times its mean deviation. */
  readonly retxScale: number;
  /** Added to that age, in milliseconds. */
  readonly retxAddMs: number;
  /** Maximum retransmission age, in milliseconds; 0: no limit. */
  readonly retxMaxMs: number;
  /** A measured round trip counts as at most this multiple of the previous one; 0: no limit. */
  readonly maxRttScale: number;
  /** Time that a closing end waits for a sign of life of its peer, in milliseconds. The circuit is cut after it. */
  readonly maxCloseWaitMs: number;
  /** Timeout for the controller to create a circuit. */
  readonly getCircuitTimeout: number;
  /** Time that the terminating end waits for the first payload. */
  readonly circuitStartTimeout: number;
  /** Timeout for dialing a service; 0s: the time that the controller waits for the circuit. */
  readonly connectTimeout: number;
  /** Advertised `host:port`; checked against the certificate. */
  readonly advertise?: HostPort;
}

export interface TransportListenerConfig {
  /** Clients that name a service and then exchange data with it. */
  readonly binding: 'transport';
  /** Address to listen on. */
  readonly address: Address;
  /** Options. */
  readonly options: TransportListenerOptions;
}

export interface TransportUdpListenerOptions {
  /** Accepted for compatibility: a payload contains one read. */
  readonly mtu: number;
  /** Accepted for compatibility: this router never drops payloads on purpose. */
  readonly randomDrops: boolean;
  /** Accepted for compatibility, as randomDrops. */
  readonly drop1InN: number;
  /** Accepted for compatibility: the windows limit the payloads that wait for their consumer. */
  readonly txQueueSize: number;
  /** Initial send window, in bytes: the limit on unacknowledged bytes of a circuit. The link decides how many of them are on its path at a time. */
  readonly txPortalStartSize: number;
  /** Minimum send window, in bytes. */
  readonly txPortalMinSize: number;
  /** Maximum send window, in bytes; also the limit on unread bytes at the peer. */
  readonly txPortalMaxSize: number;
  /** Acknowledged payloads per increase of the window. */
  readonly txPortalIncreaseThresh: number;
  /** Ratio of the acknowledged bytes that is added to the window. */
  readonly txPortalIncreaseScale: number;
  /** Retransmissions per decrease of the window. */
  readonly txPortalRetxThresh: number;
  /** Factor of that decrease. */
  readonly txPortalRetxScale: number;
  /** Duplicate acknowledgements per increase of the retransmission scale. */
  readonly txPortalDupAckThresh: number;
  /** Accepted for compatibility; has no effect. */
  readonly txPortalDupAckScale: number;
  /** Limit on bytes held for the consumer. */
  readonly rxBufferSize: number;
  /** Initial age at which a payload may be retransmitted, in milliseconds. It is retransmitted if it has left the first link, and if later payloads were acknowledged or none is. */
  readonly retxStartMs: number;
  /** Retransmission age as a multiple of the round trip time; at least the round trip and four times its mean deviation. */
  readonly retxScale: number;
  /** Added to that age, in milliseconds. */
  readonly retxAddMs: number;
  /** Maximum retransmission age, in milliseconds; 0: no limit. */
  readonly retxMaxMs: number;
  /** A measured round trip counts as at most this multiple of the previous one; 0: no limit. */
  readonly maxRttScale: number;
  /** Time that a closing end waits for a sign of life of its peer, in milliseconds. The circuit is cut after it. */
  readonly maxCloseWaitMs: number;
  /** Timeout for the controller to create a circuit. */
  readonly getCircuitTimeout: number;
  /** Time that the terminating end waits for the first payload. */
  readonly circuitStartTimeout: number;
  /** Timeout for dialing a service; 0s: the time that the controller waits for the circuit. */
  readonly connectTimeout: number;
  /** Advertised `host:port`; checked against the certificate. */
  readonly advertise?: HostPort;
}

export interface TransportUdpListenerConfig {
  /** The same over UDP. */
  readonly binding: 'transport_udp';
  /** `udp:host:port`, `udp4:`, `udp6:` or `unixgram:path`. */
  readonly address: string;
  /** Options. */
  readonly options: TransportUdpListenerOptions;
}

export interface ProxyListenerOptions {
  /** Accepted for compatibility: a payload contains one read. */
  readonly mtu: number;
  /** Accepted for compatibility: this router never drops payloads on purpose. */
  readonly randomDrops: boolean;
  /** Accepted for compatibility, as randomDrops. */
  readonly drop1InN: number;
  /** Accepted for compatibility: the windows limit the payloads that wait for their consumer. */
  readonly txQueueSize: number;
  /** Initial send window, in bytes: the limit on unacknowledged bytes of a circuit. The link decides how many of them are on its path at a time. */
  readonly txPortalStartSize: number;
  /** Minimum send window, in bytes. */
  readonly txPortalMinSize: number;
  /** Maximum send window, in bytes; also the limit on unread bytes at the peer. */
  readonly txPortalMaxSize: number;
  /** Acknowledged payloads per increase of the window. */
  readonly txPortalIncreaseThresh: number;
  /** Ratio of the acknowledged bytes that is added to the window. */
  readonly txPortalIncreaseScale: number;
  /** Retransmissions per decrease of the window. */
  readonly txPortalRetxThresh: number;
  /** Factor of that decrease. */
  readonly txPortalRetxScale: number;
  /** Duplicate acknowledgements per increase of the retransmission scale. */
  readonly txPortalDupAckThresh: number;
  /** Accepted for compatibility; has no effect. */
  readonly txPortalDupAckScale: number;
  /** Limit on bytes held for the consumer. */
  readonly rxBufferSize: number;
  /** Initial age at which a payload may be retransmitted, in milliseconds. It is retransmitted if it has left the first link, and if later payloads were acknowledged or none is. */
  readonly retxStartMs: number;
  /** Retransmission age as a multiple of the round trip time; at least the round trip and four times its mean deviation. */
  readonly retxScale: number;
  /** Added to that age, in milliseconds. */
  readonly retxAddMs: number;
  /** Maximum retransmission age, in milliseconds; 0: no limit. */
  readonly retxMaxMs: number;
  /** A measured round trip counts as at most this multiple of the previous one; 0: no limit. */
  readonly maxRttScale: number;
  /** Time that a closing end waits for a sign of life of its peer, in milliseconds. The circuit is cut after it. */
  readonly maxCloseWaitMs: number;
  /** Timeout for the controller to create a circuit. */
  readonly getCircuitTimeout: number;
  /** Time that the terminating end waits for the first payload. */
  readonly circuitStartTimeout: number;
  /** Timeout for dialing a service; 0s: the time that the controller waits for the circuit. */
  readonly connectTimeout: number;
  /** Advertised `host:port`; checked against the certificate. */
  readonly advertise?: HostPort;
}

export interface ProxyListenerConfig {
  /** Every accepted connection becomes a circuit to one service. */
  readonly binding: 'proxy';
  /** Address to listen on. */
  readonly address: Address;
  /** Id of the service. */
  readonly service: string;
  /** Options. */
  readonly options: ProxyListenerOptions;
}

export interface ProxyUdpListenerOptions {
  /** Accepted for compatibility: a payload contains one read. */
  readonly mtu: number;
  /** Accepted for compatibility: this router never drops payloads on purpose. */
  readonly randomDrops: boolean;
  /** Accepted for compatibility, as randomDrops. */
  readonly drop1InN: number;
  /** Accepted for compatibility: the windows limit the payloads that wait for their consumer. */
  readonly txQueueSize: number;
  /** Initial send window, in bytes: the limit on unacknowledged bytes of a circuit. The link decides how many of them are on its path at a time. */
  readonly txPortalStartSize: number;
  /** Minimum send window, in bytes. */
  readonly txPortalMinSize: number;
  /** Maximum send window, in bytes; also the limit on unread bytes at the peer. */
  readonly txPortalMaxSize: number;
  /** Acknowledged payloads per increase of the window. */
  readonly txPortalIncreaseThresh: number;
  /** Ratio of the acknowledged bytes that is added to the window. */
  readonly txPortalIncreaseScale: number;
  /** Retransmissions per decrease of the window. */
  readonly txPortalRetxThresh: number;
  /** Factor of that decrease. */
  readonly txPortalRetxScale: number;
  /** Duplicate acknowledgements per increase of the retransmission scale. */
  readonly txPortalDupAckThresh: number;
  /** Accepted for compatibility; has no effect. */
  readonly txPortalDupAckScale: number;
  /** Limit on bytes held for the consumer. */
  readonly rxBufferSize: number;
  /** Initial age at which a payload may be retransmitted, in milliseconds. It is retransmitted if it has left the first link, and if later payloads were acknowledged or none is. */
  readonly retxStartMs: number;
  /** Retransmission age as a multiple of the round trip time; at least the round trip and four times its mean deviation. */
  readonly retxScale: number;
  /** Added to that age, in milliseconds. */
  readonly retxAddMs: number;
  /** Maximum retransmission age, in milliseconds; 0: no limit. */
  readonly retxMaxMs: number;
  /** A measured round trip counts as at most this multiple of the previous one; 0: no limit. */
  readonly maxRttScale: number;
  /** Time that a closing end waits for a sign of life of its peer, in milliseconds. The circuit is cut after it. */
  readonly maxCloseWaitMs: number;
  /** Timeout for the controller to create a circuit. */
  readonly getCircuitTimeout: number;
  /** Time that the terminating end waits for the first payload. */
  readonly circuitStartTimeout: number;
  /** Timeout for dialing a service; 0s: the time that the controller waits for the circuit. */
  readonly connectTimeout: number;
  /** Advertised `host:port`; checked against the certificate. */
  readonly advertise?: HostPort;
}

export interface ProxyUdpListenerConfig {
  /** The same over UDP. */
  readonly binding: 'proxy_udp';
  /** `udp:host:port`, `udp4:`, `udp6:` or `unixgram:path`. */
  readonly address: string;
  /** Id of the service. */
  readonly service: string;
  /** Options. */
  readonly options: ProxyUdpListenerOptions;
}

export interface XgressConfig {
  /** Accepted for compatibility: a payload contains one read. */
  readonly mtu: number;
  /** Accepted for compatibility: this router never drops payloads on purpose. */
  readonly randomDrops: boolean;
  /** Accepted for compatibility, as randomDrops. */
  readonly drop1InN: number;
  /** Accepted for compatibility: the windows limit the payloads that wait for their consumer. */
  readonly txQueueSize: number;
  /** Initial send window, in bytes: the limit on unacknowledged bytes of a circuit. The link decides how many of them are on its path at a time. */
  readonly txPortalStartSize: number;
  /** Minimum send window, in bytes. */
  readonly txPortalMinSize: number;
  /** Maximum send window, in bytes; also the limit on unread bytes at the peer. */
  readonly txPortalMaxSize: number;
  /** Acknowledged payloads per increase of the window. */
  readonly txPortalIncreaseThresh: number;
  /** Ratio of the acknowledged bytes that is added to the window. */
  readonly txPortalIncreaseScale: number;
  /** Retransmissions per decrease of the window. */
  readonly txPortalRetxThresh: number;
  /** Factor of that decrease. */
  readonly txPortalRetxScale: number;
  /** Duplicate acknowledgements per increase of the retransmission scale. */
  readonly txPortalDupAckThresh: number;
  /** Accepted for compatibility; has no effect. */
  readonly txPortalDupAckScale: number;
  /** Limit on bytes held for the consumer. */
  readonly rxBufferSize: number;
  /** Initial age at which a payload may be retransmitted, in milliseconds. It is retransmitted if it has left the first link, and if later payloads were acknowledged or none is. */
  readonly retxStartMs: number;
  /** Retransmission age as a multiple of the round trip time; at least the round trip and four times its mean deviation. */
  readonly retxScale: number;
  /** Added to that age, in milliseconds. */
  readonly retxAddMs: number;
  /** Maximum retransmission age, in milliseconds; 0: no limit. */
  readonly retxMaxMs: number;
  /** A measured round trip counts as at most this multiple of the previous one; 0: no limit. */
  readonly maxRttScale: number;
  /** Time that a closing end waits for a sign of life of its peer, in milliseconds. The circuit is cut after it. */
  readonly maxCloseWaitMs: number;
  /** Timeout for the controller to create a circuit. */
  readonly getCircuitTimeout: number;
  /** Time that the terminating end waits for the first payload. */
  readonly circuitStartTimeout: number;
  /** Timeout for dialing a service; 0s: the time that the controller waits for the circuit. */
  readonly connectTimeout: number;
}

export interface DialerConfig {
  /** Binding to which the options apply: transport, transport_udp, edge, edge_transport, tunnel; proxy and proxy_udp are accepted but cannot dial. */
  readonly binding: string;
  /** Options. */
  readonly options: XgressConfig;
}

export interface MetricsConfig {
  /** Time between reports to controllers. */
  readonly reportInterval: number;
  /** Minimum age of a usage interval before it is sent. */
  readonly intervalAgeThreshold: number;
  /** Limit on reports waiting for a controller. */
  readonly messageQueueSize: number;
  /** Accepted for compatibility: events are counted at once. */
  readonly eventQueueSize: number;
  /** Measure the time that data waits in SDK connections. */
  readonly enableDataDelayMetric: boolean;
}

export interface RuntimeConfig {
  /** Threads that carry connections with many bytes beside the main thread: of clients, and from 2 threads on of links; and further connections while strangers keep the main thread busy. 0: the main thread carries all. They start when they are needed. Default: all processors but one, at most 8; 0 inside another program. */
  readonly threads?: number;
}

export interface ProxyConfig {
  /** none or http. */
  readonly type: 'none' | 'http';
  /** `host:port` of the proxy. */
  readonly address?: HostPort;
  /** Username. */
  readonly username?: string;
  /** Password. */
  readonly password?: string;
}

export interface ConnectEventsConfig {
  /** Report which identities are connected. */
  readonly enabled: boolean;
  /** Time between reports. */
  readonly batchInterval: number;
  /** Time between complete reports. */
  readonly fullSyncInterval: number;
  /** Limit on waiting events. */
  readonly maxQueuedEvents: number;
}

export interface BindPointConfig {
  /** `host:port` to listen on. A TLS listener with the same `host:port` shares its port, unless `identity` or versions of TLS are set. Port 0: a free one, which `router inspect FILE` names. */
  readonly interface: HostPort;
  /** Advertised `host:port`. Port 0: the port that is open. */
  readonly address: HostPort;
  /** `host:port` to which clients should move. */
  readonly newAddress?: HostPort;
  /** Serves the API over the overlay network; not supported by this router. */
  readonly identity?: Readonly<Record<string, unknown>>;
}

export interface WebConfig {
  /** Name of the server. */
  readonly name: string;
  /** Addresses of the server. */
  readonly bindPoints: readonly BindPointConfig[];
  /** Identity of this server; default: the router's. */
  readonly identity?: IdentityConfig;
  /** Server options. */
  readonly options: {
    /** Timeout for reading a request. */
    readonly readTimeout: number;
    /** Timeout for writing an answer. */
    readonly writeTimeout: number;
    /** Idle timeout of a connection. */
    readonly idleTimeout: number;
    /** Minimum TLS version. */
    readonly minTLSVersion: 'TLS1.0' | 'TLS1.1' | 'TLS1.2' | 'TLS1.3';
    /** Maximum TLS version. */
    readonly maxTLSVersion: 'TLS1.0' | 'TLS1.1' | 'TLS1.2' | 'TLS1.3';
  };
  /** APIs of the server. */
  readonly apis: readonly ({
    /** Name of the API: health-checks, metrics. */
    readonly binding: 'health-checks' | 'metrics';
    /** Options of the API; the APIs have none. */
    readonly options?: Readonly<Record<string, unknown>>;
  })[];
}

export interface RouterConfigValues {
  /** Version of the file format. */
  readonly v: 3;
  /** Certificates, key and trusted authorities of the router. Its id is the common name of `cert`. */
  readonly identity: IdentityConfig;
  /** Controllers and the connections to them. */
  readonly ctrl: CtrlConfig;
  /** Subject and names that the router requests when it enrolls or renews its certificates. */
  readonly csr?: CsrConfig;
  /** Enables edge functionality: SDK connections, services, policies. May be empty. */
  readonly edge?: EdgeConfig;
  /** Queues and timers of the forwarder. */
  readonly forwarder: ForwarderConfig;
  /** Checks of the health-checks API. */
  readonly healthChecks: HealthChecksConfig;
  /** Links to other routers. */
  readonly link: LinkConfig;
  /** Listeners for clients: where traffic enters the network. */
  readonly listeners: readonly (EdgeListenerConfig | TunnelListenerConfig | TransportListenerConfig | TransportUdpListenerConfig | ProxyListenerConfig | ProxyUdpListenerConfig)[];
  /** Options for dialing services from this router. */
  readonly dialers: readonly DialerConfig[];
  /** Metrics reports. */
  readonly metrics: MetricsConfig;
  /** Threads of the router. The reference ignores this section. */
  readonly runtime: RuntimeConfig;
  /** Message tracing, for debugging. */
  readonly trace?: {
    /** File for decoded messages. */
    readonly path?: string;
  };
  /** Profiling, for debugging. */
  readonly profile?: {
    /** CPU profile of the main thread, from start to end. `router profile FILE cpu --thread NUMBER` records an I/O thread. */
    readonly cpu?: {
      /** File of the CPU profile. */
      readonly path: string;
    };
    /** Memory profile of the main thread. */
    readonly memory?: {
      /** File of the memory profile. */
      readonly path: string;
      /** Time between writes, in milliseconds. */
      readonly intervalMs: number;
    };
  };
  /** Settings of the underlying protocols. */
  readonly transport: {
    /** Further protocol name (ALPN) under which edge and link listeners accept TLS connections. */
    readonly protocol?: string;
    /** Timeout of a DTLS handshake; this router does not support DTLS. */
    readonly handshakeTimeout?: number;
    readonly proxy?: ProxyConfig;
    /** WebSocket listeners: edge listeners with a `wss:` address. */
    readonly wss: {
      /** Timeout for answering an HTTP request, in seconds. */
      readonly writeTimeout: number;
      /** Timeout for the headers of an HTTP request, in seconds. */
      readonly readTimeout: number;
      /** Idle timeout between the requests of a connection, in seconds. */
      readonly idleTimeout: number;
      /** Time without an answer to pings after which a client is disconnected, in seconds. */
      readonly pongTimeout: number;
      /** Time between pings, in seconds; 0: no pings. */
      readonly pingInterval: number;
      /** Timeout of the TLS handshake inside the WebSocket, in seconds. */
      readonly handshakeTimeout: number;
      /** Limit on received bytes waiting to be decrypted. */
      readonly readBufferSize: number;
      /** Limit on encrypted bytes waiting to be sent. */
      readonly writeBufferSize: number;
      /** Accept compressed messages. The router sends encrypted data and never compresses it. */
      readonly enableCompression: boolean;
      /** Certificate and key of WebSocket listeners, if they differ from those of the router. */
      readonly identity?: IdentityConfig;
    };
    /** Tuning of a removed transport; accepted and ignored. */
    readonly westworld3?: {
      /** Profile version. */
      readonly profile_version?: number;
      /** Minimum window. */
      readonly tx_portal_min_sz?: number;
      /** Maximum window. */
      readonly tx_portal_max_sz?: number;
      /** Instrumentation. */
      readonly instrument?: {
        /** Name. */
        readonly name?: string;
        /** Path. */
        readonly path?: string;
        /** Snapshot interval in milliseconds. */
        readonly snapshot_ms?: number;
        /** Enabled. */
        readonly enabled?: boolean;
      };
    };
    /** Tuning of DTLS connections, which this router does not open. */
    readonly dtls?: Readonly<Record<string, unknown>>;
  };
  /** TLS listeners. */
  readonly tls: {
    /** Timeout of the TLS handshake on listeners. */
    readonly handshakeTimeout: number;
  };
  readonly proxy?: ProxyConfig;
  /** Native plugins of the reference; they cannot be loaded here. */
  readonly plugins?: readonly string[];
  /** Reports of connected identities. */
  readonly connectEvents: ConnectEventsConfig;
  /** Reports of network interfaces. */
  readonly interfaceDiscovery: {
    /** Do not report network interfaces. */
    readonly disabled: boolean;
    /** Time between checks of the interfaces. */
    readonly checkInterval: number;
    /** Maximum time without a report. */
    readonly minReportInterval: number;
  };
  /** Configuration by controllers. */
  readonly managedConfig: {
    /** Config types that controllers may set: `all`, or names such as router.link. */
    readonly allow: readonly string[];
  };
  /** Allow debugging operations over the local agent. */
  readonly enableDebugOps: boolean;
  /** HTTPS servers. */
  readonly web: readonly WebConfig[];
}
