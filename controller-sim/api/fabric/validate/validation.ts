// A kind of validation of the management channel: the numbers of its messages, and the check itself. The answer to
// a request has the number of results, and each result is a separate message.

import { describeError } from '#lib/errors.ts';
import type { Message } from '#wire/message.ts';
import { ApiError } from '../../../errors/errors.ts';
import type { Origin } from '../../../state/origin.ts';
import type { ApiServices } from '../../operations/context.ts';

/** The components that validations use. */
export type ValidationComponents = Pick<
  ApiServices,
  'state' | 'network' | 'dataModel' | 'routerDialer' | 'controllerId' | 'log'
>;

export interface Validation {
  /** ManagementType of the three messages. */
  readonly types: { readonly request: number; readonly response: number; readonly result: number };
  /** The beginning of the answer if `prepare` rejects the request; reference fact: it differs between the kinds. */
  readonly rejectionPrefix: string;
  /**
   * Reads the request and selects what to validate. Throws ApiError for an invalid filter, ProtocolError for an invalid
   * body, another ProjectError if this controller cannot validate.
   */
  prepare(services: ValidationComponents, request: Message): PreparedValidation;
}

export interface PreparedValidation {
  /** Number of results. */
  readonly count: number;
  /** Reports each result. Rejects with the signal's reason, or with the error of a report. */
  run(run: ValidationRun): Promise<void>;
}

export interface ValidationRun {
  readonly signal: AbortSignal;
  /** The author of repairs. */
  readonly origin: Origin;
  /** Sends a message of the given type, and resolves when it is written. */
  report(type: number, body: Uint8Array): Promise<void>;
}

/** reference fact: the beginning of the answer to most requests that are rejected, whatever their fault is. */
export const UNREADABLE = 'failed to unmarshall request: ';
/** reference fact: number of routers that one validation asks at the same time. */
const MAX_ASKED = 10;

/** Calls `work` for each item, at most MAX_ASKED at the same time, until one call fails. */
export async function inParallel<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const waiting = items.values();
  const worker = async () => {
    for (const item of waiting) await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(MAX_ASKED, items.length) }, worker));
}

/** An ApiError names the fault in its cause; its message has only the kind of fault. */
export function reasonOf(error: unknown): string {
  const cause = error instanceof ApiError ? error.details : undefined;
  return cause && 'message' in cause ? cause.message : describeError(error);
}
