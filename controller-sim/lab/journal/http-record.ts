// A request in the journal. It copies short texts, so that its weight counts all the memory that it holds. Readers get
// them in a form that is made when they read.

import { ownText } from '#lib/text/own-text.ts';
import { type HttpEntry, type JournalRecord, weightOf } from './journal-entry.ts';
import type { Recorded } from './recording.ts';
import {
  MAX_BODY_LENGTH,
  MAX_TEXT_LENGTH,
  shownAnswer,
  shownBody,
  shownHeaders,
  shownPath,
  shownQuery,
  shownReason,
} from './redact.ts';

/** Characters of an address, and of a content type. */
const MAX_URL_LENGTH = 2_048;
const MAX_TYPE_LENGTH = 100;

/** The facts of a request when it arrives. */
export interface NewRequest {
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

export class HttpRecord implements JournalRecord {
  readonly kind = 'http';
  readonly router = undefined;
  readonly message = undefined;
  #identity: { readonly id: string; readonly name: string } | undefined;
  /** The id of the fault that was applied. */
  fault: string | undefined;
  /** Size of the answer in bytes. */
  bytes: number | undefined;
  readonly method: string;
  readonly #url: string;
  readonly #source: string;
  readonly #contentType: string;
  readonly #operation: NewRequest['operation'];
  readonly #isKnown: boolean;
  readonly #bodyLength: number;
  readonly #time: number;
  readonly #begun: number;
  /** JSON of a small body, or the shown form of another one: a few KB of JSON may be a hundred KB of objects. */
  #body: string | undefined;
  #isShown = false;
  readonly #headers: Readonly<Record<string, string>>;
  #answer: string | undefined;
  /** Also of an empty one. */
  #isAnswerKept = false;
  #answerHeaders: Readonly<Record<string, string>> | undefined;
  #error: { readonly code: string; readonly reason: string | undefined } | undefined;
  #status: number | null = null;
  #duration = 0;
  #isOver = false;
  readonly #journal: { add(record: HttpRecord): void } | undefined;

  /** The end of the request adds it to `journal`. */
  constructor(request: NewRequest, journal?: { add(record: HttpRecord): void }) {
    this.#journal = journal;
    this.method = kept(request.method, MAX_TYPE_LENGTH);
    this.#url = keptUrl(request.url);
    this.#source = kept(request.source, MAX_TYPE_LENGTH);
    this.#contentType = kept(request.contentType, MAX_TYPE_LENGTH);
    this.#headers = shownHeaders(request.headers);
    this.#operation = request.operation;
    this.#isKnown = request.isKnown;
    this.#bodyLength = request.bodyLength;
    this.#time = request.time;
    this.#begun = request.begun;
  }

  get weight(): number {
    const { reason } = this.#error ?? {};
    const headers = [this.#headers, this.#answerHeaders ?? {}].flatMap((each) => Object.entries(each).flat());
    const answer = this.#answer?.length ?? 0; // a byte for each character: most answers are ASCII
    return weightOf(this.method, this.#url, this.#source, this.#contentType, this.#body, reason, ...headers) + answer;
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

  get operationId(): string | undefined {
    return this.#operation?.id;
  }

  get status(): number | null {
    return this.#status;
  }

  get path(): string {
    return shownPath(this.#rawPath(), this.#isKnown);
  }

  /** The body of the request. */
  setBody(body: unknown): void {
    if (body === undefined) return;
    this.#isShown = typeof body === 'string' || !(this.#bodyLength > 0 && this.#bodyLength <= MAX_BODY_LENGTH);
    this.#body = this.#isShown ? shownBody(body, this.#contentType) : JSON.stringify(body);
  }

  /** The caller. */
  setIdentity(identity: { readonly id: string; readonly name: string } | undefined): void {
    this.#identity = identity && { id: identity.id, name: identity.name };
  }

  /** The answer before compression; a large one is not kept. */
  setAnswer(body: string | Uint8Array, headers: Readonly<Record<string, unknown>>): void {
    this.#answerHeaders = shownHeaders(headers);
    this.#isAnswerKept = body.length <= MAX_BODY_LENGTH;
    if (body.length === 0 || !this.#isAnswerKept) return;
    this.#answer = typeof body === 'string' ? ownText(body) : Buffer.from(body).toString();
  }

  setError(code: string, reason: string | undefined): void {
    this.#error = { code, reason: reason && kept(reason, MAX_TEXT_LENGTH) };
  }

  /** `status` is null without an answer; `now` is a time of the clock of `begun`. */
  end(status: number | null, now: number): void {
    this.#status = status;
    this.#duration = now - this.#begun;
    this.#isOver = true;
    this.#journal?.add(this);
  }

  show(sequence: number): HttpEntry {
    const { method, path, identity, bytes, fault } = this;
    const operation = this.#operation;
    const query = this.#url.slice(this.#rawPath().length + 1);
    const body =
      this.#isShown || this.#body === undefined ? this.#body : shownBody(JSON.parse(this.#body), this.#contentType);
    const { code, reason } = this.#error ?? {};
    return {
      kind: 'http',
      sequence,
      time: new Date(this.#time),
      method,
      path,
      ...(query !== '' && { query: shownQuery(query) }),
      ...(operation && { api: operation.api, operation: operation.id }),
      status: this.#status,
      ...(code !== undefined && { code }),
      ...(reason !== undefined && { reason: shownReason(reason, this.#rawPath(), path) }),
      duration: Math.round(this.#duration * 1_000) / 1_000,
      source: this.#source,
      ...(identity && { identity }),
      ...(bytes !== undefined && { bytes }),
      ...(typeof body === 'string' && { body }),
      headers: this.#headers,
      ...(this.#answer !== undefined && !this.isFailed && { answer: shownAnswer(this.#answer) }),
      ...(this.#answerHeaders && { answerHeaders: this.#answerHeaders }),
      ...(fault !== undefined && { fault }),
    };
  }

  get recorded(): Recorded | undefined {
    const isWhole = this.#isAnswerKept && !(this.#isShown && this.#body !== undefined) && !this.#url.endsWith('…');
    if (this.#status === null || !isWhole) return undefined;
    const path = this.#rawPath();
    const request = { method: this.method, path, query: this.#url.slice(path.length + 1), body: this.#body ?? '' };
    const headers = { 'content-type': this.#answerHeaders?.['content-type'] ?? 'application/json' };
    return { request, answer: { status: this.#status, headers, body: this.#answer ?? '' } };
  }

  #rawPath(): string {
    const end = this.#url.indexOf('?');
    return end < 0 ? this.#url : this.#url.slice(0, end);
  }
}

/** A copy of the beginning, independent of the text that it comes from. */
function kept(text: string, length: number): string {
  return ownText(text.slice(0, length));
}

/** Without the last part of a long address, which may be the beginning of a secret. */
function keptUrl(url: string): string {
  if (url.length <= MAX_URL_LENGTH) return ownText(url);
  const head = url.slice(0, MAX_URL_LENGTH);
  return ownText(`${head.slice(0, Math.max(...['&', '?', '/'].map((end) => head.lastIndexOf(end))) + 1)}…`);
}
