// A request in the journal. It keeps references while the request is served; texts are made when somebody reads them.

import { ownText } from '#lib/own-text.ts';
import type { HttpEntry, JournalRecord } from './journal-entry.ts';
import { LONGEST_BODY, LONGEST_TEXT, shownBody, shownPath, shownQuery, shownReason } from './redact.ts';

/** The facts of a request when it arrives. */
export interface NewRequest {
  readonly method: string;
  /** With the query. */
  readonly url: string;
  readonly source: string;
  /** Bytes of the body as its client announces them. */
  readonly bodyLength: number;
  readonly contentType: string;
  /** API and id of its operation; undefined for other paths. */
  readonly operation: { readonly api: string; readonly id: string } | undefined;
  /** Whether the path is served. */
  readonly isKnown: boolean;
  /** Milliseconds since the Unix epoch, and of a monotonic clock. */
  readonly time: number;
  readonly begun: number;
}

export class HttpRecord implements JournalRecord {
  readonly kind = 'http';
  readonly router = undefined;
  #identity: { readonly id: string; readonly name: string } | undefined;
  /** The id of the fault that was applied. */
  fault: string | undefined;
  /** Size of the answer in bytes. */
  bytes: number | undefined;
  readonly #request: NewRequest;
  readonly #url: string;
  /** Small ones are kept as they are, others as their shown form. */
  #body: unknown;
  #isShown = false;
  #weight = 0;
  #error: { readonly code: string; readonly reason: string | undefined } | undefined;
  #status: number | null = null;
  #duration = 0;
  #isOver = false;

  constructor(request: NewRequest) {
    this.#request = request;
    const { url } = request;
    this.#url = url.length > 2 * LONGEST_TEXT ? ownText(url.slice(0, 2 * LONGEST_TEXT)) : url;
    this.#weight = this.#url.length;
  }

  get weight(): number {
    return this.#weight;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  get identity(): { readonly id: string; readonly name: string } | undefined {
    return this.#identity;
  }

  get hasError(): boolean {
    return this.#error !== undefined;
  }

  get isFailed(): boolean {
    return this.#status === null || this.#status >= 400;
  }

  get path(): string {
    return shownPath(this.#rawPath(), this.#request.isKnown);
  }

  /** The body of the request. Handlers do not change bodies. */
  setBody(body: unknown): void {
    if (body === undefined) return;
    const { bodyLength, contentType } = this.#request;
    this.#isShown = typeof body === 'string' || !(bodyLength > 0 && bodyLength <= LONGEST_BODY);
    this.#body = this.#isShown ? shownBody(body, contentType) : body;
    this.#weight += this.#isShown ? String(this.#body).length : bodyLength;
  }

  /** The caller. */
  setIdentity(identity: { readonly id: string; readonly name: string } | undefined): void {
    this.#identity = identity && { id: identity.id, name: identity.name };
  }

  setError(code: string, reason: string | undefined): void {
    this.#error = { code, reason: reason && ownText(reason.slice(0, LONGEST_TEXT)) };
    this.#weight += reason?.length ?? 0;
  }

  /** `status` is null without an answer; `now` is a time of the clock of `begun`. */
  end(status: number | null, now: number): void {
    this.#status = status;
    this.#duration = now - this.#request.begun;
    this.#isOver = true;
  }

  show(sequence: number): HttpEntry {
    const { method, source, operation, contentType, time } = this.#request;
    const { path, identity, bytes, fault } = this;
    const query = this.#url.slice(this.#rawPath().length + 1);
    const body = this.#isShown ? this.#body : shownBody(this.#body, contentType);
    const { code, reason } = this.#error ?? {};
    return {
      kind: 'http',
      sequence,
      time: new Date(time),
      method,
      path,
      ...(query !== '' && { query: shownQuery(query) }),
      ...(operation && { api: operation.api, operation: operation.id }),
      status: this.#status,
      ...(code !== undefined && { code }),
      ...(reason !== undefined && { reason: shownReason(reason, this.#rawPath(), path) }),
      duration: Math.round(this.#duration * 1_000) / 1_000,
      source,
      ...(identity && { identity }),
      ...(bytes !== undefined && { bytes }),
      ...(typeof body === 'string' && { body }),
      ...(fault !== undefined && { fault }),
    };
  }

  #rawPath(): string {
    const end = this.#url.indexOf('?');
    return end < 0 ? this.#url : this.#url.slice(0, end);
  }
}
