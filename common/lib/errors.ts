// The base class of all expected errors. There is one class per decision of a caller, not per message: callers read
// `code` and `retriable`, people read `message`, and `detail` goes to logs only.

import { compressedIps } from './text/ip-text.ts';

export interface ErrorOptions {
  /** True if the same call may succeed later without any change. */
  retriable?: boolean;
  cause?: unknown;
  /** For logs, never for an answer on the wire. */
  detail?: Readonly<Record<string, unknown>>;
}

/** An expected failure. `code` is stable (`LINK_DIAL_TIMEOUT`); scripts and tests may rely on it. */
export class ProjectError extends Error {
  readonly code: string;
  readonly retriable: boolean;
  readonly detail: Readonly<Record<string, unknown>>;

  constructor(code: string, message: string, options: ErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = new.target.name;
    this.code = code;
    this.retriable = options.retriable ?? false;
    this.detail = options.detail ?? {};
  }
}

/** A bug: a state that the code considers impossible. */
export class InvariantError extends ProjectError {
  constructor(message: string, options: ErrorOptions = {}) {
    super('INVARIANT', message, options);
  }
}

/** A wait exceeded its time limit. */
export class TimeoutError extends ProjectError {
  constructor(what: string, milliseconds: number, options: ErrorOptions = {}) {
    super('TIMEOUT', `${what} took longer than ${milliseconds} ms`, { retriable: true, ...options });
  }
}

/** An operation on an object that is closed or draining. */
export class ClosedError extends ProjectError {
  constructor(what: string, options: ErrorOptions = {}) {
    super('CLOSED', `${what} is closed`, options);
  }
}

/** The message of any thrown value, with the messages of its causes: `a: b: c`. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const own = ownText(error);
  // Packages attach objects, whose text says nothing.
  if (error.cause === undefined || (typeof error.cause === 'object' && !(error.cause instanceof Error))) return own;
  const cause = describeError(error.cause);
  return own.includes(cause) ? own : `${own}: ${cause}`;
}

/** OpenSSL surrounds its reason with addresses and source lines; returns the reason only. */
function ownText(error: Error): string {
  const { library, reason, code } = error as NodeJS.ErrnoException & { library?: unknown; reason?: unknown };
  if (library === 'SSL routines' && typeof reason === 'string') return `TLS: ${reason}`;
  const text = error.message || code || error.name;
  return code === 'ERR_TLS_CERT_ALTNAME_INVALID' ? compressedIps(text) : text;
}

/** The `code` of a system or project error (`ECONNREFUSED`, `CLOSED`), or undefined. */
export function errorCode(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null | undefined)?.code;
  return typeof code === 'string' ? code : undefined;
}

/** Converts any thrown value to an Error. */
export function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
