// Requests to a controller that may be broken or hostile, for the typed client and the commands. Each answer has limits
// on its time as a whole, its bytes and its values. Errors show what it says in one line, without characters that a
// terminal obeys.

import type { Agent, Dispatcher } from 'undici';
import { describeError, ProjectError, TimeoutError } from '#lib/errors.ts';
import { isMap } from '#lib/json/is-map.ts';
import { parseJson } from '#lib/json/json.ts';
import { BufferBudget } from '#lib/queue/buffer-budget.ts';
import { inOneLine } from '#lib/text/shown-text.ts';
import type { Clock } from '#lib/time/clock.ts';

export interface SentRequest {
  readonly method: Dispatcher.HttpMethod;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface ReceivedAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

export interface ErrorBody {
  readonly code: string;
  readonly field: string | undefined;
  /** In one line, with the field. */
  readonly reason: string;
  readonly data: unknown;
}

export interface Envelope {
  readonly data?: unknown;
  readonly meta?: { readonly pagination?: { readonly totalCount?: unknown } } | null;
  readonly error?: unknown;
}

/** Milliseconds until the head of an answer, and between two parts of its body. */
const TIMEOUT = 60_000;
/** Milliseconds for a whole answer, however slowly it comes. */
const MAX_ANSWER_MS = 300_000;
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
/** Bytes of memory of the answers that one caller keeps: all pages of a list, all lists of a network. */
const MAX_KEPT_BYTES = 256 * 1024 * 1024;
/** Bytes of a parsed value besides its text; `[],` has three bytes of text. */
const VALUE_BYTES = 32;
const OPEN_LIST = 0x5b;
const OPEN_MAP = 0x7b;
const COMMA = 0x2c;
/** Characters of a reason. */
const MAX_REASON = 2_000;

/** The answers take more memory than their caller may use. */
export class AnswersTooLargeError extends ProjectError {
  constructor() {
    super('ANSWERS_TOO_LARGE', `its answers take more than ${MAX_KEPT_BYTES / 1024 / 1024} MiB`);
  }
}

/** Memory for the answers that one caller keeps. Answers that are read at the same time share it. */
export function answerBudget(): BufferBudget {
  return new BufferBudget(MAX_KEPT_BYTES);
}

export class ControllerHttp {
  readonly #agent: Agent;
  readonly #send: typeof import('undici').request;
  readonly #clock: Clock;

  private constructor(agent: Agent, send: typeof import('undici').request, clock: Clock) {
    this.#agent = agent;
    this.#send = send;
    this.#clock = clock;
  }

  /** `ca`: the authorities as PEM. The code of the package is loaded here, so that the simulator starts faster. */
  static async open(ca: string, clock: Clock): Promise<ControllerHttp> {
    const { Agent, request } = await import('undici');
    const agent = new Agent({
      connect: { ca, timeout: TIMEOUT },
      headersTimeout: TIMEOUT,
      bodyTimeout: TIMEOUT,
      maxResponseSize: MAX_ANSWER_BYTES,
    });
    return new ControllerHttp(agent, request, clock);
  }

  /** Rejects with AnswersTooLargeError, TimeoutError or the error of the connection. */
  async send(url: string, request: SentRequest, budget: BufferBudget): Promise<ReceivedAnswer> {
    const late = () => new TimeoutError('the answer', MAX_ANSWER_MS);
    const { signal, timer } = this.#clock.deadline('answer of a controller', MAX_ANSWER_MS, late);
    try {
      const { statusCode, headers, body } = await this.#send(url, { ...request, dispatcher: this.#agent, signal });
      const parts: Buffer[] = [];
      for await (const part of body as AsyncIterable<Buffer>) {
        take(budget, part.length);
        parts.push(part);
      }
      const text = Buffer.concat(parts).toString();
      take(budget, valuesIn(text) * VALUE_BYTES);
      return { status: statusCode, headers, text };
    } finally {
      timer.cancel();
    }
  }

  /** Waits for requests in progress. */
  close(): Promise<void> {
    return this.#agent.close();
  }

  /** Requests in progress are rejected. */
  destroy(): Promise<void> {
    return this.#agent.destroy();
  }
}

/** @throws AnswersTooLargeError */
function take(budget: BufferBudget, bytes: number): void {
  budget.add(bytes);
  if (budget.free < 0) throw new AnswersTooLargeError();
}

/** At least the values of a JSON text: commas within strings count too. */
function valuesIn(text: string): number {
  let count = 0;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === COMMA || code === OPEN_LIST || code === OPEN_MAP) count++;
  }
  return count;
}

/** Empty for a text that is not a JSON object. */
export function readEnvelope(text: string): Envelope {
  try {
    const value = parseJson(text);
    return isMap(value) ? value : {};
  } catch {
    return {}; // not JSON: the status tells enough
  }
}

/** The error of an answer; undefined without one. */
export function errorIn({ error }: Envelope): ErrorBody | undefined {
  if (!isMap(error)) return undefined;
  const { code, message, cause } = error;
  const details = isMap(cause) ? cause : {};
  const field = textOf(details.field);
  const reason = textOf(details.reason);
  const described = reason && field ? `${field}: ${reason}` : reason;
  return {
    code: textOf(code) ?? '',
    field,
    reason: described ?? textOf(details.message) ?? textOf(message) ?? '',
    data: details.data,
  };
}

/** Undefined for other values, also for an empty text. */
function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? inOneLine(value.slice(0, MAX_REASON)) : undefined;
}

/** Why no answer came. */
export function connectionProblem(error: unknown): string {
  return inOneLine(describeError(error)).slice(0, MAX_REASON);
}
