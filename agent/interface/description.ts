// The state of a router as `Router.describe()` and `router inspect FILE` report it. Types only: every room may use
// them.

import type { IoThreadInspection } from '#lib/threads/io-threads.ts';
import type { LoopInspection } from '#lib/threads/loop-load.ts';

/** The state of all parts of a router at one moment. */
export interface RouterDescription {
  readonly id: string;
  readonly version: string;
  /** The connected controllers. */
  readonly controllers: readonly ConnectedController[];
  readonly notConnected: readonly MissingController[];
  /** The established links. */
  readonly links: readonly EstablishedLink[];
  /** The links that this router dials, in any state. */
  readonly wantedLinks: readonly WantedLinkDescription[];
  /** Known routers without a link that this router does not dial, with the reason. */
  readonly notDialed: readonly { readonly peerId: string; readonly reason: string }[];
  /** How many circuits use the router. */
  readonly circuits: number;
  /** How many ends of circuits the router has. */
  readonly circuitEnds: number;
  readonly terminators: readonly TerminatorDescription[];
  readonly linkListeners: readonly ListenerDescription[];
  readonly controlListeners: readonly ListenerDescription[];
  /** The addresses that are advertised to SDKs. */
  readonly edgeListeners: readonly { readonly host: string; readonly port: number }[];
  /** How many SDK clients are connected. */
  readonly sdkClients: number;
  /** The health checks of hosted services. */
  readonly hostedHealth: readonly HostedHealth[];
  /** Open ports of proxied services. */
  readonly proxies: readonly ProxyDescription[];
  /** Missing without mode tproxy. */
  readonly interception?: InterceptionDescription | undefined;
  readonly mainThread: LoopInspection;
  /** The threads that carry connections and run now. */
  readonly threads: readonly IoThreadInspection[];
  readonly fabricListeners: readonly { readonly binding: string; readonly port: number }[];
  /** Bound addresses of the `web` section, `host:port`. */
  readonly web: readonly string[];
  /** Bound address of the proxy to the controller's API, `host:port`; missing without one. */
  readonly apiProxy?: string | undefined;
  /** Whether all health checks pass. */
  readonly healthy: boolean;
  /** Why the router is still starting; missing once it has started. */
  readonly starting?: string | undefined;
  /** Missing until the router is open. */
  readonly drain?: DrainStatus | undefined;
  /** Whether `close` was called. */
  readonly closing: boolean;
  /** Whether new certificates are being requested or installed. */
  readonly renewing: boolean;
  /** The router's position in the history of the data model; missing for a router without a data model. */
  readonly dataModel?: DataModelPosition | undefined;
  /** Names of the running timers. */
  readonly timers: readonly string[];
}

export interface ConnectedController {
  readonly id: string;
  /** `tls:host:port`. */
  readonly address: string;
  /** Whether it answers heartbeats. */
  readonly isResponsive: boolean;
  readonly latencyMs: number;
}

/** Why a controller is not connected. */
export interface ControllerProblem {
  readonly endpoint: string;
  readonly error: string;
  /** The likely cause. */
  readonly likely?: string;
  readonly remedy?: string;
}

/** A controller that is not connected; the reason is missing before the first attempt ends. */
export interface MissingController extends Partial<ControllerProblem> {
  readonly id: string;
  readonly endpoints: readonly string[];
}

export interface EstablishedLink {
  readonly id: string;
  readonly peerId: string;
  /** Whether this router dialed it. */
  readonly dialed: boolean;
  /** Increases each time the link is dialed again. */
  readonly iteration: number;
  readonly connections: readonly LinkConnectionDescription[];
}

export interface LinkConnectionDescription {
  /** Its channel's type, such as `link.default`. */
  readonly type: string;
  readonly localAddr: string;
  readonly remoteAddr: string;
}

export interface WantedLinkDescription {
  readonly peerId: string;
  readonly linkId: string;
  readonly key: string;
  readonly address: string;
  readonly state: string;
  readonly attempts: number;
  /** Milliseconds since the epoch; absent if no dial is planned. */
  readonly nextDial?: number;
  readonly lastError?: string;
  /** How to repair it, if the error suggests that. */
  readonly remedy?: string;
}

/** A terminator that the router keeps at its controllers. */
export interface TerminatorDescription {
  readonly id: string;
  /** `tunnel` or `edge`. */
  readonly binding: string;
  readonly serviceName: string;
  readonly cost: number;
  readonly precedence: string;
  readonly instanceId: string;
  readonly state: string;
}

/** One health check of a hosted service, and the weight of its terminator. */
export interface HostedHealth {
  readonly terminatorId: string;
  readonly service: string;
  readonly check: string;
  readonly healthy: boolean;
  readonly problem?: string;
  readonly cost: number;
  readonly precedence: string;
}

/** A listener for links, or for controllers. */
export interface ListenerDescription {
  /** Where it listens, with the port that is open: `tls:host:port`. */
  readonly bind: string;
  /** The address that the others are told: `tls:host:port`. */
  readonly advertise: string;
}

export interface ProxyDescription {
  readonly service: string;
  readonly port: number;
  readonly protocol: 'tcp' | 'udp';
}

export interface InterceptionDescription {
  /** Names of the intercepted services. */
  readonly services: readonly string[];
  /** How many names have an address. */
  readonly names: number;
  /** How many local routes exist. */
  readonly routes: number;
  readonly udpSessions: number;
  /** Ports of the name server. */
  readonly resolvers: readonly number[];
}

export interface DataModelPosition {
  /** The last change that the router has; 0 before the first full state. */
  readonly index: number;
  /** The history to which the index belongs. */
  readonly timeline: string;
}

export interface DrainStatus {
  readonly state: 'serving' | 'draining';
  /** Circuits with an end on this router. */
  readonly circuits: number;
  /** Circuits that pass from link to link. */
  readonly passing: number;
  /** Terminators that a controller still has. */
  readonly terminators: number;
  /** RFC 3339. */
  readonly since?: string;
}
