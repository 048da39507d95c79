// The tap of the API server: an observer that records each request, and may interfere with its answer. The lab is one
// (lab/http-traffic.ts).

/** The facts of a request when it arrives. */
export interface ArrivedRequest {
  readonly method: string;
  /** With the query. */
  readonly url: string;
  readonly source: string;
  /** Bytes of the body as its client announces them. */
  readonly bodyLength: number;
  readonly contentType: string;
  readonly headers: Readonly<Record<string, unknown>>;
  /** API and id of its operation; undefined for other paths. */
  readonly operation: { readonly api: string; readonly id: string } | undefined;
  /** Whether the path is served. */
  readonly isKnown: boolean;
  /** Milliseconds since the Unix epoch, and of a monotonic clock. */
  readonly time: number;
  readonly begun: number;
}

/** The record of a request, until it has an answer. */
export interface RequestRecord {
  /** The id of the interference with the request. */
  fault: string | undefined;
  /** Size of the answer in bytes. */
  bytes: number | undefined;
  readonly isOver: boolean;
  readonly hasError: boolean;
  /** The body of the request. */
  setBody(body: unknown): void;
  /** The caller. */
  setIdentity(identity: { readonly id: string; readonly name: string } | undefined): void;
  /** The answer before compression. */
  setAnswer(body: string | Uint8Array, headers: Readonly<Record<string, unknown>>): void;
  setError(code: string, reason: string | undefined): void;
  /** `status` is null without an answer; `now` is a time of the clock of `begun`. Called once. */
  end(status: number | null, now: number): void;
}

/** A request that was read and has no answer. */
export interface ReadRequest {
  readonly method: string;
  readonly path: string;
  readonly operation: string | undefined;
  readonly identity: { readonly id: string; readonly name: string } | undefined;
}

/** A change of an answer. A status, a code or a body replaces the handler. */
export interface InterferingAnswer {
  /** Milliseconds before the handler. */
  readonly delay?: number;
  /** The connection closes without an answer. */
  readonly close?: boolean;
  /** The connection closes after half of the answer. */
  readonly truncate?: boolean;
  readonly status?: number;
  /** An error code of the APIs. */
  readonly code?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

export interface RequestInterference {
  readonly id: string;
  readonly answer: InterferingAnswer;
}

export interface RequestTap {
  begin(request: ArrivedRequest): RequestRecord;
  /** Whether it may interfere with requests now. */
  readonly isActive: boolean;
  /** Whether the interference depends on the caller. */
  readonly needsIdentity: boolean;
  /** The interference with a request; undefined: the handler answers. */
  faultOf(request: ReadRequest): RequestInterference | undefined;
}
