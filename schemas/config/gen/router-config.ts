// Generated from router.schema.json by `npm run generate`. Do not edit.
// A checked configuration: durations are milliseconds, addresses are parsed, defaults are filled in.

import type { Address } from '#lib/address.ts';

export interface HostPort {
  readonly host: string;
  readonly port: number;
}

export interface IdentityConfig {
  /** Client certificate chain, leaf first: a path, `file:///path` or `pem:` text. */
  readonly cert?: string;
  /** Server certificate chain; the client certificate is used when this is absent. */
  readonly server_cert?: string;
  /** Private key of cert, and of server_cert when server_key is absent. */
  readonly key?: string;
  /** Private key of server_cert. */
  readonly server_key?: string;
  /** Certificates of the authorities that are trusted; the system's when absent. */
  readonly ca?: string;
  /** Further server certificates. */
  readonly alt_server_certs: readonly ({
    /** Server certificate chain, chosen by the name that a client asks for. */
    readonly server_cert: string;
    /** Its private key; the default key when absent. */
    readonly server_key?: string;
  })[];
}

export interface ChannelOptionsConfig {
  /** Messages that may wait to be sent. A value of 4 becomes 64 on links and edge listeners. */
  readonly outQueueSize: number;
  /** Accepted connections that may wait for their hello. */
  readonly maxQueuedConnects: number;
  /** Hellos in progress at once. */
  readonly maxOutstandingConnects: number;
  /** Time for connecting, the TLS handshake and the hello. */
  readonly connectTimeout: number;
  /** Older form of connectTimeout, in milliseconds; used when that is absent. */
  readonly connectTimeoutMs?: number;
  /** Time for one write; 0s for no limit. */
  readonly writeTimeout: number;
}

export interface CtrlConfig {
  /** Address of the controller. Wins over endpoints. */
  readonly endpoint?: Address;
  /** Addresses of controllers. Once connected the set is kept current with the cluster. */
  readonly endpoints?: readonly Address[];
  /** Interface name or local IP address to dial from. */
  readonly bind?: string;
  /** Time a request to a controller may take. */
  readonly defaultRequestTimeout: number;
  /** The router gives up when no controller was reached within this time after its start; 0s or less never gives up. */
  readonly startupTimeout: number;
  /** Where controller addresses are remembered; `endpoints.yml` beside this file when absent. */
  readonly endpointsFile?: string;
  /** Channel options. */
  readonly options: ChannelOptionsConfig;
  /** Heartbeats. */
  readonly heartbeats: {
    /** Time between heartbeats. */
    readonly sendInterval: number;
    /** Time between looks at the state. */
    readonly checkInterval: number;
    /** The connection is closed when no heartbeat was answered for this long. */
    readonly closeUnresponsiveTimeout: number;
    /** Latency above which a controller is asked last. */
    readonly unresponsiveAfter: number;
  };
  /** Adaptive limit of requests to controllers. */
  readonly rateLimiter?: {
    /** Adapt the number of requests under way to how quickly controllers answer. */
    readonly enabled: boolean;
    /** Smallest number of requests under way. */
    readonly minSize: number;
    /** Largest number. */
    readonly maxSize: number;
    /** A request without answer counts as failed after this. */
    readonly timeout: number;
    /** Share of successes above which the window grows. */
    readonly successThreshold: number;
    /** Growth of the window. */
    readonly increaseFactor: number;
    /** Shrinking of the window. */
    readonly decreaseFactor: number;
    /** Answers between looks at growing. */
    readonly increaseCheckInterval: number;
    /** Answers between looks at shrinking. */
    readonly decreaseCheckInterval: number;
  };
  /** Listeners for controllers that dial routers. */
  readonly listeners: readonly ({
    /** Address on which controllers may dial this router. */
    readonly bind: Address;
    /** Address that controllers are told; bind when absent. */
    readonly advertise?: Address;
    /** Name of the interface. */
    readonly bindInterface?: string;
    /** Groups of the listener. */
    readonly groups: readonly string[];
    /** Channel options. */
    readonly options: ChannelOptionsConfig;
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
  /** Subject alternative names. At least one is needed to accept SDK or router connections. */
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
  /** Time between reports of the sessions in use, 10 to 60. */
  readonly heartbeatIntervalSeconds: number;
  /** Sessions that are validated in one request. */
  readonly sessionValidateChunkSize: number;
  /** Shortest pause between such requests. */
  readonly sessionValidateMinInterval: number;
  /** Longest pause. */
  readonly sessionValidateMaxInterval: number;
  /** File of the router data model; this file's path with `.proto.gzip` when absent. */
  readonly db?: string;
  /** Time between writes of it, at least 30. */
  readonly dbSaveIntervalSeconds: number;
  /** HTTPS listener that passes requests on to the API of a controller. */
  readonly apiProxy?: {
    /** `host:port` to listen on. */
    readonly listener: HostPort;
    /** `host:port` of the controller's API. */
    readonly upstream: HostPort;
  };
}

export interface ForwarderConfig {
  /** Time between reports of circuits that could not be forwarded, in milliseconds; 0 or less disables. */
  readonly faultTxInterval: number;
  /** A circuit without traffic for this long is asked about, in milliseconds. */
  readonly idleCircuitTimeout: number;
  /** Time between looks for idle circuits, in milliseconds; 0 or less disables. */
  readonly idleTxInterval: number;
  /** Link dials that may wait. */
  readonly linkDialQueueLength: number;
  /** Link dials at once. */
  readonly linkDialWorkerCount: number;
  /** Rate-limited requests to controllers that may wait. */
  readonly rateLimitedQueueLength: number;
  /** Rate-limited requests at once. */
  readonly rateLimitedWorkerCount: number;
  /** Read for compatibility; link.heartbeats.closeUnresponsiveTimeout is what counts. At least 5s. */
  readonly unresponsiveLinkTimeout: number;
  /** Wait before an idle circuit is taken down, in milliseconds. */
  readonly xgressCloseCheckInterval: number;
  /** Wait before a service is dialed, in milliseconds; 0 or less for none. */
  readonly xgressDialDwellTime: number;
  /** Service dials that may wait. */
  readonly xgressDialQueueLength: number;
  /** Service dials at once. */
  readonly xgressDialWorkerCount: number;
  /** Read for compatibility; link latency is measured by heartbeats. */
  readonly latencyProbeInterval?: number;
}

export interface HealthChecksConfig {
  /** Whether a responsive controller is connected. */
  readonly ctrlPingCheck: {
    /** Time between checks. */
    readonly interval: number;
    /** Time after which a check is given up. */
    readonly timeout: number;
    /** Wait before the first check. */
    readonly initialDelay: number;
  };
  /** Whether there are enough links. */
  readonly linkCheck: {
    /** Time between checks. */
    readonly interval: number;
    /** Wait before the first check. */
    readonly initialDelay: number;
    /** Fewer links than this make the check fail; 0 only reports them. */
    readonly minLinks: number;
  };
}

export interface LinkListenerConfig {
  /** Always transport. */
  readonly binding: 'transport' | '';
  /** `tls:host:port` to listen on. */
  readonly bind: Address;
  /** Address that other routers dial; bind when absent. */
  readonly advertise?: Address;
  /** Name of the interface; found by the address when absent. */
  readonly bindInterface?: string;
  /** Groups of the listener. */
  readonly groups: readonly string[];
  /** Channel options. */
  readonly options: ChannelOptionsConfig;
}

export interface BackoffConfig {
  /** Wait after the first failure. */
  readonly minRetryInterval: number;
  /** Longest wait. */
  readonly maxRetryInterval: number;
  /** Each wait is the last one times this, give or take 0.5. */
  readonly retryBackoffFactor: number;
}

export interface LinkDialerConfig {
  /** Always transport. */
  readonly binding: 'transport' | '';
  /** Separate connections for payloads and acknowledgements, towards routers that cannot do grouped links. */
  readonly split: boolean;
  /** Interface name or local IP address to dial from. */
  readonly bind?: string;
  /** The same; wins over bind. */
  readonly bindInterface?: string;
  /** Groups of the dialer: it dials only listeners that share one. */
  readonly groups: readonly string[];
  /** Connections of a link that carry payloads. */
  readonly maxDefaultConnections: number;
  /** Connections of a link that carry acknowledgements. */
  readonly maxAckConnections: number;
  /** Wait before further connections of a link are dialed. */
  readonly startupDelay: number;
  /** Channel options. */
  readonly options: ChannelOptionsConfig;
  /** Retry policy while the other router is connected to a controller. */
  readonly healthyDialBackoff: BackoffConfig;
  /** Retry policy while it is not. */
  readonly unhealthyDialBackoff: BackoffConfig;
}

export interface LinkConfig {
  /** Where other routers may dial links to. */
  readonly listeners: readonly LinkListenerConfig[];
  /** How links to other routers are dialed. */
  readonly dialers: readonly LinkDialerConfig[];
  /** Heartbeats. */
  readonly heartbeats: {
    /** Time between heartbeats. */
    readonly sendInterval: number;
    /** Time between looks at the state. */
    readonly checkInterval: number;
    /** The connection is closed when no heartbeat was answered for this long. */
    readonly closeUnresponsiveTimeout: number;
  };
  /** Payloads that may wait for a link. */
  readonly payloadSenderQueueSize: number;
  /** Acknowledgements that may wait for a link. */
  readonly ackSenderQueueSize: number;
}

export interface EdgeListenerOptions {
  /** Largest piece of data in one payload, in bytes; 0 for one payload per read. Only meant for dtls links. */
  readonly mtu: number;
  /** Drop payloads at random, for tests of the flow control. */
  readonly randomDrops: boolean;
  /** With randomDrops: one payload in so many. */
  readonly drop1InN: number;
  /** Payloads in order that may wait for their consumer. */
  readonly txQueueSize: number;
  /** Send window at the start, in bytes. */
  readonly txPortalStartSize: number;
  /** Smallest send window, in bytes. */
  readonly txPortalMinSize: number;
  /** Largest send window, in bytes; also the most that the peer may hold unread. */
  readonly txPortalMaxSize: number;
  /** Acknowledged payloads per enlargement of the window. */
  readonly txPortalIncreaseThresh: number;
  /** Share of the acknowledged bytes that is added to the window. */
  readonly txPortalIncreaseScale: number;
  /** Retransmissions per reduction of the window. */
  readonly txPortalRetxThresh: number;
  /** Factor of that reduction. */
  readonly txPortalRetxScale: number;
  /** Duplicate acknowledgements per raise of the retransmission scale. */
  readonly txPortalDupAckThresh: number;
  /** Read for compatibility; has no effect. */
  readonly txPortalDupAckScale: number;
  /** Most bytes that are held for the consumer. */
  readonly rxBufferSize: number;
  /** First age at which a payload is sent again, in milliseconds. */
  readonly retxStartMs: number;
  /** Retransmission age as a multiple of the round trip time. */
  readonly retxScale: number;
  /** Added to that age, in milliseconds. */
  readonly retxAddMs: number;
  /** Largest retransmission age, in milliseconds; 0 for none. */
  readonly retxMaxMs: number;
  /** A measured round trip counts as at most this many times the last one; 0 for no limit, 1 becomes 2. */
  readonly maxRttScale: number;
  /** How long a closing end waits for acknowledgements, in milliseconds. */
  readonly maxCloseWaitMs: number;
  /** Wait for the controller to make a circuit. */
  readonly getCircuitTimeout: number;
  /** Wait of the terminating end for the first payload. */
  readonly circuitStartTimeout: number;
  /** Time for connecting, the TLS handshake and the hello. */
  readonly connectTimeout: number;
  /** Messages that may wait to be sent. A value of 4 becomes 64 on links and edge listeners. */
  readonly outQueueSize: number;
  /** Accepted connections that may wait for their hello. */
  readonly maxQueuedConnects: number;
  /** Hellos in progress at once. */
  readonly maxOutstandingConnects: number;
  /** Older form of connectTimeout, in milliseconds; used when that is absent. */
  readonly connectTimeoutMs?: number;
  /** Time for one write; 0s for no limit. */
  readonly writeTimeout: number;
  /** `host:port` that SDKs are told. */
  readonly advertise: HostPort;
  /** Wait for a session that a client names. */
  readonly lookupSessionTimeout: number;
  /** Wait for an API session that a client names. */
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
  /** Largest piece of data in one payload, in bytes; 0 for one payload per read. Only meant for dtls links. */
  readonly mtu: number;
  /** Drop payloads at random, for tests of the flow control. */
  readonly randomDrops: boolean;
  /** With randomDrops: one payload in so many. */
  readonly drop1InN: number;
  /** Payloads in order that may wait for their consumer. */
  readonly txQueueSize: number;
  /** Send window at the start, in bytes. */
  readonly txPortalStartSize: number;
  /** Smallest send window, in bytes. */
  readonly txPortalMinSize: number;
  /** Largest send window, in bytes; also the most that the peer may hold unread. */
  readonly txPortalMaxSize: number;
  /** Acknowledged payloads per enlargement of the window. */
  readonly txPortalIncreaseThresh: number;
  /** Share of the acknowledged bytes that is added to the window. */
  readonly txPortalIncreaseScale: number;
  /** Retransmissions per reduction of the window. */
  readonly txPortalRetxThresh: number;
  /** Factor of that reduction. */
  readonly txPortalRetxScale: number;
  /** Duplicate acknowledgements per raise of the retransmission scale. */
  readonly txPortalDupAckThresh: number;
  /** Read for compatibility; has no effect. */
  readonly txPortalDupAckScale: number;
  /** Most bytes that are held for the consumer. */
  readonly rxBufferSize: number;
  /** First age at which a payload is sent again, in milliseconds. */
  readonly retxStartMs: number;
  /** Retransmission age as a multiple of the round trip time. */
  readonly retxScale: number;
  /** Added to that age, in milliseconds. */
  readonly retxAddMs: number;
  /** Largest retransmission age, in milliseconds; 0 for none. */
  readonly retxMaxMs: number;
  /** A measured round trip counts as at most this many times the last one; 0 for no limit, 1 becomes 2. */
  readonly maxRttScale: number;
  /** How long a closing end waits for acknowledgements, in milliseconds. */
  readonly maxCloseWaitMs: number;
  /** Wait for the controller to make a circuit. */
  readonly getCircuitTimeout: number;
  /** Wait of the terminating end for the first payload. */
  readonly circuitStartTimeout: number;
  /** Time for dialing a service; 0s leaves it to the operating system. */
  readonly connectTimeout: number;
  /** host: offers services of Bind policies. proxy: listens for the listed services, and hosts. tproxy: intercepts services of Dial policies, answers DNS, and hosts. `tproxy:PROGRAM` lets a program divert. */
  readonly mode: string;
  /** Read for compatibility; services are pushed. */
  readonly svcPollRate: number;
  /** Name server of tproxy mode: `udp://host:port` or `file:///path`. */
  readonly resolver: readonly string[];
  /** Range of the addresses that the name server gives out. */
  readonly dnsSvcIpRange: string;
  /** Name servers that are asked for what the router does not know. */
  readonly dnsUpstream: readonly string[];
  /** How several upstreams are used. */
  readonly dnsUpstreamMode: 'parallel' | 'serial' | 'failover' | 'random' | '';
  /** Answer when nobody knows. */
  readonly dnsUnanswerable: 'timeout' | 'servfail' | 'refused' | '';
  /** Proxy mode: `SERVICE:PORT` or `SERVICE:PORT:tcp|udp`. */
  readonly services: readonly string[];
  /** Interfaces whose traffic is accepted in tproxy mode. */
  readonly lanIf: readonly string[];
  /** A UDP session without traffic ends after this. */
  readonly udpIdleTimeout: number;
  /** Time between looks for idle UDP sessions. */
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
  /** Largest piece of data in one payload, in bytes; 0 for one payload per read. Only meant for dtls links. */
  readonly mtu: number;
  /** Drop payloads at random, for tests of the flow control. */
  readonly randomDrops: boolean;
  /** With randomDrops: one payload in so many. */
  readonly drop1InN: number;
  /** Payloads in order that may wait for their consumer. */
  readonly txQueueSize: number;
  /** Send window at the start, in bytes. */
  readonly txPortalStartSize: number;
  /** Smallest send window, in bytes. */
  readonly txPortalMinSize: number;
  /** Largest send window, in bytes; also the most that the peer may hold unread. */
  readonly txPortalMaxSize: number;
  /** Acknowledged payloads per enlargement of the window. */
  readonly txPortalIncreaseThresh: number;
  /** Share of the acknowledged bytes that is added to the window. */
  readonly txPortalIncreaseScale: number;
  /** Retransmissions per reduction of the window. */
  readonly txPortalRetxThresh: number;
  /** Factor of that reduction. */
  readonly txPortalRetxScale: number;
  /** Duplicate acknowledgements per raise of the retransmission scale. */
  readonly txPortalDupAckThresh: number;
  /** Read for compatibility; has no effect. */
  readonly txPortalDupAckScale: number;
  /** Most bytes that are held for the consumer. */
  readonly rxBufferSize: number;
  /** First age at which a payload is sent again, in milliseconds. */
  readonly retxStartMs: number;
  /** Retransmission age as a multiple of the round trip time. */
  readonly retxScale: number;
  /** Added to that age, in milliseconds. */
  readonly retxAddMs: number;
  /** Largest retransmission age, in milliseconds; 0 for none. */
  readonly retxMaxMs: number;
  /** A measured round trip counts as at most this many times the last one; 0 for no limit, 1 becomes 2. */
  readonly maxRttScale: number;
  /** How long a closing end waits for acknowledgements, in milliseconds. */
  readonly maxCloseWaitMs: number;
  /** Wait for the controller to make a circuit. */
  readonly getCircuitTimeout: number;
  /** Wait of the terminating end for the first payload. */
  readonly circuitStartTimeout: number;
  /** Time for dialing a service; 0s leaves it to the operating system. */
  readonly connectTimeout: number;
  /** `host:port` that others are told; checked against the certificate. */
  readonly advertise?: HostPort;
}

export interface TransportListenerConfig {
  /** Clients that name a service and then talk to it. */
  readonly binding: 'transport';
  /** Address to listen on. */
  readonly address: Address;
  /** Options. */
  readonly options: TransportListenerOptions;
}

export interface TransportUdpListenerOptions {
  /** Largest piece of data in one payload, in bytes; 0 for one payload per read. Only meant for dtls links. */
  readonly mtu: number;
  /** Drop payloads at random, for tests of the flow control. */
  readonly randomDrops: boolean;
  /** With randomDrops: one payload in so many. */
  readonly drop1InN: number;
  /** Payloads in order that may wait for their consumer. */
  readonly txQueueSize: number;
  /** Send window at the start, in bytes. */
  readonly txPortalStartSize: number;
  /** Smallest send window, in bytes. */
  readonly txPortalMinSize: number;
  /** Largest send window, in bytes; also the most that the peer may hold unread. */
  readonly txPortalMaxSize: number;
  /** Acknowledged payloads per enlargement of the window. */
  readonly txPortalIncreaseThresh: number;
  /** Share of the acknowledged bytes that is added to the window. */
  readonly txPortalIncreaseScale: number;
  /** Retransmissions per reduction of the window. */
  readonly txPortalRetxThresh: number;
  /** Factor of that reduction. */
  readonly txPortalRetxScale: number;
  /** Duplicate acknowledgements per raise of the retransmission scale. */
  readonly txPortalDupAckThresh: number;
  /** Read for compatibility; has no effect. */
  readonly txPortalDupAckScale: number;
  /** Most bytes that are held for the consumer. */
  readonly rxBufferSize: number;
  /** First age at which a payload is sent again, in milliseconds. */
  readonly retxStartMs: number;
  /** Retransmission age as a multiple of the round trip time. */
  readonly retxScale: number;
  /** Added to that age, in milliseconds. */
  readonly retxAddMs: number;
  /** Largest retransmission age, in milliseconds; 0 for none. */
  readonly retxMaxMs: number;
  /** A measured round trip counts as at most this many times the last one; 0 for no limit, 1 becomes 2. */
  readonly maxRttScale: number;
  /** How long a closing end waits for acknowledgements, in milliseconds. */
  readonly maxCloseWaitMs: number;
  /** Wait for the controller to make a circuit. */
  readonly getCircuitTimeout: number;
  /** Wait of the terminating end for the first payload. */
  readonly circuitStartTimeout: number;
  /** Time for dialing a service; 0s leaves it to the operating system. */
  readonly connectTimeout: number;
  /** `host:port` that others are told; checked against the certificate. */
  readonly advertise?: HostPort;
}

export interface TransportUdpListenerConfig {
  /** The same for datagrams. */
  readonly binding: 'transport_udp';
  /** `udp:host:port`, `udp4:`, `udp6:` or `unixgram:path`. */
  readonly address: string;
  /** Options. */
  readonly options: TransportUdpListenerOptions;
}

export interface ProxyListenerOptions {
  /** Largest piece of data in one payload, in bytes; 0 for one payload per read. Only meant for dtls links. */
  readonly mtu: number;
  /** Drop payloads at random, for tests of the flow control. */
  readonly randomDrops: boolean;
  /** With randomDrops: one payload in so many. */
  readonly drop1InN: number;
  /** Payloads in order that may wait for their consumer. */
  readonly txQueueSize: number;
  /** Send window at the start, in bytes. */
  readonly txPortalStartSize: number;
  /** Smallest send window, in bytes. */
  readonly txPortalMinSize: number;
  /** Largest send window, in bytes; also the most that the peer may hold unread. */
  readonly txPortalMaxSize: number;
  /** Acknowledged payloads per enlargement of the window. */
  readonly txPortalIncreaseThresh: number;
  /** Share of the acknowledged bytes that is added to the window. */
  readonly txPortalIncreaseScale: number;
  /** Retransmissions per reduction of the window. */
  readonly txPortalRetxThresh: number;
  /** Factor of that reduction. */
  readonly txPortalRetxScale: number;
  /** Duplicate acknowledgements per raise of the retransmission scale. */
  readonly txPortalDupAckThresh: number;
  /** Read for compatibility; has no effect. */
  readonly txPortalDupAckScale: number;
  /** Most bytes that are held for the consumer. */
  readonly rxBufferSize: number;
  /** First age at which a payload is sent again, in milliseconds. */
  readonly retxStartMs: number;
  /** Retransmission age as a multiple of the round trip time. */
  readonly retxScale: number;
  /** Added to that age, in milliseconds. */
  readonly retxAddMs: number;
  /** Largest retransmission age, in milliseconds; 0 for none. */
  readonly retxMaxMs: number;
  /** A measured round trip counts as at most this many times the last one; 0 for no limit, 1 becomes 2. */
  readonly maxRttScale: number;
  /** How long a closing end waits for acknowledgements, in milliseconds. */
  readonly maxCloseWaitMs: number;
  /** Wait for the controller to make a circuit. */
  readonly getCircuitTimeout: number;
  /** Wait of the terminating end for the first payload. */
  readonly circuitStartTimeout: number;
  /** Time for dialing a service; 0s leaves it to the operating system. */
  readonly connectTimeout: number;
  /** `host:port` that others are told; checked against the certificate. */
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
  /** Largest piece of data in one payload, in bytes; 0 for one payload per read. Only meant for dtls links. */
  readonly mtu: number;
  /** Drop payloads at random, for tests of the flow control. */
  readonly randomDrops: boolean;
  /** With randomDrops: one payload in so many. */
  readonly drop1InN: number;
  /** Payloads in order that may wait for their consumer. */
  readonly txQueueSize: number;
  /** Send window at the start, in bytes. */
  readonly txPortalStartSize: number;
  /** Smallest send window, in bytes. */
  readonly txPortalMinSize: number;
  /** Largest send window, in bytes; also the most that the peer may hold unread. */
  readonly txPortalMaxSize: number;
  /** Acknowledged payloads per enlargement of the window. */
  readonly txPortalIncreaseThresh: number;
  /** Share of the acknowledged bytes that is added to the window. */
  readonly txPortalIncreaseScale: number;
  /** Retransmissions per reduction of the window. */
  readonly txPortalRetxThresh: number;
  /** Factor of that reduction. */
  readonly txPortalRetxScale: number;
  /** Duplicate acknowledgements per raise of the retransmission scale. */
  readonly txPortalDupAckThresh: number;
  /** Read for compatibility; has no effect. */
  readonly txPortalDupAckScale: number;
  /** Most bytes that are held for the consumer. */
  readonly rxBufferSize: number;
  /** First age at which a payload is sent again, in milliseconds. */
  readonly retxStartMs: number;
  /** Retransmission age as a multiple of the round trip time. */
  readonly retxScale: number;
  /** Added to that age, in milliseconds. */
  readonly retxAddMs: number;
  /** Largest retransmission age, in milliseconds; 0 for none. */
  readonly retxMaxMs: number;
  /** A measured round trip counts as at most this many times the last one; 0 for no limit, 1 becomes 2. */
  readonly maxRttScale: number;
  /** How long a closing end waits for acknowledgements, in milliseconds. */
  readonly maxCloseWaitMs: number;
  /** Wait for the controller to make a circuit. */
  readonly getCircuitTimeout: number;
  /** Wait of the terminating end for the first payload. */
  readonly circuitStartTimeout: number;
  /** Time for dialing a service; 0s leaves it to the operating system. */
  readonly connectTimeout: number;
  /** `host:port` that others are told; checked against the certificate. */
  readonly advertise?: HostPort;
}

export interface ProxyUdpListenerConfig {
  /** The same for datagrams. */
  readonly binding: 'proxy_udp';
  /** `udp:host:port`, `udp4:`, `udp6:` or `unixgram:path`. */
  readonly address: string;
  /** Id of the service. */
  readonly service: string;
  /** Options. */
  readonly options: ProxyUdpListenerOptions;
}

export interface XgressConfig {
  /** Largest piece of data in one payload, in bytes; 0 for one payload per read. Only meant for dtls links. */
  readonly mtu: number;
  /** Drop payloads at random, for tests of the flow control. */
  readonly randomDrops: boolean;
  /** With randomDrops: one payload in so many. */
  readonly drop1InN: number;
  /** Payloads in order that may wait for their consumer. */
  readonly txQueueSize: number;
  /** Send window at the start, in bytes. */
  readonly txPortalStartSize: number;
  /** Smallest send window, in bytes. */
  readonly txPortalMinSize: number;
  /** Largest send window, in bytes; also the most that the peer may hold unread. */
  readonly txPortalMaxSize: number;
  /** Acknowledged payloads per enlargement of the window. */
  readonly txPortalIncreaseThresh: number;
  /** Share of the acknowledged bytes that is added to the window. */
  readonly txPortalIncreaseScale: number;
  /** Retransmissions per reduction of the window. */
  readonly txPortalRetxThresh: number;
  /** Factor of that reduction. */
  readonly txPortalRetxScale: number;
  /** Duplicate acknowledgements per raise of the retransmission scale. */
  readonly txPortalDupAckThresh: number;
  /** Read for compatibility; has no effect. */
  readonly txPortalDupAckScale: number;
  /** Most bytes that are held for the consumer. */
  readonly rxBufferSize: number;
  /** First age at which a payload is sent again, in milliseconds. */
  readonly retxStartMs: number;
  /** Retransmission age as a multiple of the round trip time. */
  readonly retxScale: number;
  /** Added to that age, in milliseconds. */
  readonly retxAddMs: number;
  /** Largest retransmission age, in milliseconds; 0 for none. */
  readonly retxMaxMs: number;
  /** A measured round trip counts as at most this many times the last one; 0 for no limit, 1 becomes 2. */
  readonly maxRttScale: number;
  /** How long a closing end waits for acknowledgements, in milliseconds. */
  readonly maxCloseWaitMs: number;
  /** Wait for the controller to make a circuit. */
  readonly getCircuitTimeout: number;
  /** Wait of the terminating end for the first payload. */
  readonly circuitStartTimeout: number;
  /** Time for dialing a service; 0s leaves it to the operating system. */
  readonly connectTimeout: number;
}

export interface DialerConfig {
  /** What is dialed with these options: transport, transport_udp, edge, edge_transport, tunnel; proxy and proxy_udp are accepted and cannot dial. */
  readonly binding: string;
  /** Options. */
  readonly options: XgressConfig;
}

export interface MetricsConfig {
  /** Time between reports to controllers. */
  readonly reportInterval: number;
  /** Age that a usage interval must reach before it is sent. */
  readonly intervalAgeThreshold: number;
  /** Reports that may wait for a controller. */
  readonly messageQueueSize: number;
  /** Events that may wait to be counted, at least 16. */
  readonly eventQueueSize: number;
  /** Measure how long data waits in SDK connections. */
  readonly enableDataDelayMetric: boolean;
}

export interface ProxyConfig {
  /** none or http. */
  readonly type: 'none' | 'http';
  /** `host:port` of the proxy. */
  readonly address?: HostPort;
  /** User name. */
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
  /** Events that may wait. */
  readonly maxQueuedEvents: number;
}

export interface BindPointConfig {
  /** `host:port` to listen on. */
  readonly interface: HostPort;
  /** `host:port` that clients are told. */
  readonly address: HostPort;
  /** `host:port` that clients should move to. */
  readonly newAddress?: HostPort;
  /** Serving the API over the network itself: not supported here. */
  readonly identity?: Readonly<Record<string, unknown>>;
}

export interface WebConfig {
  /** Name of the server. */
  readonly name: string;
  /** Where the server listens. */
  readonly bindPoints: readonly BindPointConfig[];
  /** Identity of this server; the router's when absent. */
  readonly identity?: IdentityConfig;
  /** Server options. */
  readonly options: {
    /** Time for reading a request. */
    readonly readTimeout: number;
    /** Time for writing an answer. */
    readonly writeTimeout: number;
    /** Time a connection may be idle. */
    readonly idleTimeout: number;
    /** Lowest TLS version. */
    readonly minTLSVersion: 'TLS1.0' | 'TLS1.1' | 'TLS1.2' | 'TLS1.3';
    /** Highest TLS version. */
    readonly maxTLSVersion: 'TLS1.0' | 'TLS1.1' | 'TLS1.2' | 'TLS1.3';
  };
  /** APIs that are served. */
  readonly apis: readonly ({
    /** Name of the API: health-checks, metrics. */
    readonly binding: 'health-checks' | 'metrics';
    /** Options of the API; none exist. */
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
  /** Subject and names that the router asks for when it enrolls or renews its certificates. */
  readonly csr?: CsrConfig;
  /** Enables edge functionality: SDK connections, services, policies. May be empty. */
  readonly edge?: EdgeConfig;
  /** Queues and timers of the forwarder. */
  readonly forwarder: ForwarderConfig;
  /** Checks that the health-checks API shows. */
  readonly healthChecks: HealthChecksConfig;
  /** Links to other routers. */
  readonly link: LinkConfig;
  /** Where traffic enters the network. */
  readonly listeners: readonly (EdgeListenerConfig | TunnelListenerConfig | TransportListenerConfig | TransportUdpListenerConfig | ProxyListenerConfig | ProxyUdpListenerConfig)[];
  /** Options for dialing services that end here. */
  readonly dialers: readonly DialerConfig[];
  /** Reports of figures. */
  readonly metrics: MetricsConfig;
  /** Message tracing, for debugging. */
  readonly trace?: {
    /** File to which decoded messages are written. */
    readonly path?: string;
  };
  /** Profiling, for debugging. */
  readonly profile?: {
    /** CPU profile from start to end. */
    readonly cpu?: {
      /** File of the CPU profile. */
      readonly path: string;
    };
    /** Memory profile. */
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
    /** Time for a handshake of DTLS, which this router does not serve. */
    readonly handshakeTimeout?: number;
    readonly proxy?: ProxyConfig;
    /** WebSocket listeners: edge listeners with a `wss:` address. */
    readonly wss: {
      /** Time to answer an HTTP request, in seconds. */
      readonly writeTimeout: number;
      /** Time for the headers of an HTTP request, in seconds. */
      readonly readTimeout: number;
      /** Time between the requests of a connection, in seconds. */
      readonly idleTimeout: number;
      /** A client that has answered no ping for this long is disconnected, in seconds. */
      readonly pongTimeout: number;
      /** Time between pings, in seconds; 0 for none. */
      readonly pingInterval: number;
      /** Time for the TLS handshake inside the WebSocket, in seconds. */
      readonly handshakeTimeout: number;
      /** Bytes received that may wait to be decrypted. */
      readonly readBufferSize: number;
      /** Bytes encrypted that may wait to be sent. */
      readonly writeBufferSize: number;
      /** Accept compressed messages. What the router sends is encrypted and never compressed. */
      readonly enableCompression: boolean;
      /** Certificate and key of WebSocket listeners, when they are not those of the router. */
      readonly identity?: IdentityConfig;
    };
    /** Tuning of a transport that no longer exists; read and ignored. */
    readonly westworld3?: {
      /** Profile version. */
      readonly profile_version?: number;
      /** Smallest window. */
      readonly tx_portal_min_sz?: number;
      /** Largest window. */
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
  };
  /** TLS listeners. */
  readonly tls: {
    /** Time for the TLS handshake on listeners. */
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
    /** Time between looks at the interfaces. */
    readonly checkInterval: number;
    /** Longest time without a report. */
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
