// The faults that a test may add: conditions and effects of each kind.

/** Fields of all kinds. */
interface CommonFault {
  /** How many requests, messages, connections or changes it affects; all by default. */
  readonly times?: number;
  /** 0 to 1: the share of the matching ones that it affects; 1 by default. */
  readonly probability?: number;
  /** Milliseconds, or a duration such as `10s`: afterwards it affects nothing. Real time; at most an hour. */
  readonly lasts?: number | string;
  /** A name that several faults share, such as that of a test: `clear` removes them together. */
  readonly scope?: string;
}

/** The answer to one request. Without fields the request is handled as usual. */
export interface HttpAnswer {
  /** 200 to 599. By default the status of the code, or 200 with a body. */
  readonly status?: number;
  /** An error code of the APIs, such as `NOT_FOUND`. */
  readonly code?: string;
  /** The body: a text as it is, anything else as JSON. By default the envelope of the APIs. */
  readonly body?: unknown;
  /** Headers such as `Retry-After`; they replace those of the answer. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The connection closes without an answer; the request is not handled. */
  readonly close?: boolean;
  /** The request is handled; the connection closes after half of the answer. */
  readonly truncate?: boolean;
  /** Milliseconds, or a duration such as `2s`: before the request is handled. At most 50 seconds. */
  readonly delay?: number | string;
}

/**
 * A fault of the APIs. A request must match all conditions. Needs an effect: `delay`, or one of an answer (`status`,
 * `code`, `body`, `headers`), `close` and `truncate`, or a delay and one of these; or `answers`.
 */
export interface HttpFault extends CommonFault, HttpAnswer {
  readonly kind: 'http';
  readonly method?: string;
  /** The beginning of the path; with `*` for any characters, the whole path. */
  readonly path?: string;
  /** The id of an operation, such as `listServices`. */
  readonly operation?: string;
  /** Id or name of the caller, who must exist; matches only requests with a valid session. */
  readonly identity?: string;
  /** One for each request, in this order; afterwards the fault is used up. */
  readonly answers?: readonly HttpAnswer[];
}

/** A fault of control channels. Needs one effect: `drop`, `delay`, `duplicate`, `reorder` or `reject`. */
export interface ControlFault extends CommonFault {
  readonly kind: 'control';
  /** Id or name of a router that exists; all routers by default. */
  readonly router?: string;
  /** The name of a content type, such as `Route`; all messages by default. */
  readonly message?: string;
  /** `in` from the router, `out` to it; both by default. */
  readonly direction?: 'in' | 'out';
  readonly drop?: boolean;
  readonly delay?: number | string;
  /** The message arrives twice. */
  readonly duplicate?: boolean;
  /** The message arrives after the next one of its direction, at the latest after a second. */
  readonly reorder?: boolean;
  /** New connections are rejected; open ones stay. */
  readonly reject?: boolean;
}

/** Effects on the bytes of a connection; several can act together. */
interface ConnectionEffects {
  /** `up` from the side that dialed, `down` to it; both by default. */
  readonly direction?: 'up' | 'down';
  /** Milliseconds, or a duration such as `100ms`, that bytes travel longer. At most 50 seconds. */
  readonly latency?: number | string;
  /** Up to so much is added to the latency or taken from it, at random. The order of bytes stays. */
  readonly jitter?: number | string;
  /** Bytes per second. */
  readonly bandwidth?: number;
  /** Bytes of a piece: everything is written in pieces of this size. */
  readonly slice?: number;
  /** Between two pieces; default 10 ms. */
  readonly sliceDelay?: number | string;
  /** The connection is closed after so many bytes. */
  readonly limit?: number;
  /** The end of a direction arrives so much later. */
  readonly closeDelay?: number | string;
  /** Bytes are accepted, and wait until the fault ends. */
  readonly stall?: boolean;
  /** The far side is gone, and the near one does not learn of it: its bytes are lost, and nothing arrives. */
  readonly halfOpen?: boolean;
  /** Connections are reset, new ones too. */
  readonly cut?: boolean;
}

/** A fault of links between routers of a test network. */
export interface LinkFault extends CommonFault, ConnectionEffects {
  readonly kind: 'link';
  /** Name of a router: its links. All links by default. */
  readonly router?: string;
  /** Name of the router at the other end. */
  readonly peer?: string;
}

/** A fault of the connections of SDK clients to the routers of a test network. */
export interface SdkFault extends CommonFault, ConnectionEffects {
  readonly kind: 'sdk';
  /** Name of the router to which the client connects; all by default. */
  readonly router?: string;
}

/** A fault of the connections of a proxy of the lab. */
export interface ProxyFault extends CommonFault, ConnectionEffects {
  readonly kind: 'proxy';
  /** Name of the proxy; all by default. */
  readonly proxy?: string;
}

/**
 * A fault of the store, which keeps changes. Needs an effect: `delay`, or `fail` or `full`, or a delay and one of
 * these.
 */
export interface StoreFault extends CommonFault {
  readonly kind: 'store';
  readonly delay?: number | string;
  /** Changes are rejected: 503. */
  readonly fail?: boolean;
  /** Changes are rejected as with a full disk: 503. */
  readonly full?: boolean;
}

export type ConnectionFault = LinkFault | SdkFault | ProxyFault;
export type NewFault = HttpFault | ControlFault | ConnectionFault | StoreFault;

type Duration = 'delay' | 'lasts' | 'latency' | 'jitter' | 'sliceDelay' | 'closeDelay';
/** With durations in milliseconds. */
type Checked<F> = { readonly [Name in keyof F]: Name extends Duration ? Exclude<F[Name], string> : F[Name] };
interface Counted {
  readonly id: string;
  /** How many requests, messages, connections or changes it has affected. */
  readonly hits: number;
}

export type CheckedAnswer = Checked<HttpAnswer>;
export type HttpRule = Omit<Checked<HttpFault>, 'answers'> & { readonly answers?: readonly CheckedAnswer[] };
export type ControlRule = Checked<ControlFault>;
export type ConnectionRule = Checked<LinkFault> | Checked<SdkFault> | Checked<ProxyFault>;
export type StoreRule = Checked<StoreFault>;
export type Rule = HttpRule | ControlRule | ConnectionRule | StoreRule;

/** A fault that was added; durations are in milliseconds. */
export type Fault = Rule & Counted;

/**
 * A fault of the simulator that is counted and removed here: `using fault = faults.add(…)` removes it with the block.
 */
export interface FaultHandle extends Counted, Disposable {
  /** The fault with its present count. */
  readonly fault: Fault;
  /** Further calls have no effect, nor has a call after the fault was removed otherwise. */
  remove(): void;
}

/** The faults that `clear` removes. */
export interface FaultFilter {
  /** Only those of this scope. */
  readonly scope?: string;
}
