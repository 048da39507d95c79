// Whether this controller may decide who somebody is, and what exists: others may have changed the data meanwhile. One
// that does not follow them does not know who was deleted, disabled or logged out. So it answers 503 to logins and to
// requests with a session, and clients go to another controller.

import { ApiError } from '../errors/errors.ts';
import type { CatchUp, Others } from '../state/other-controllers.ts';
import type { State } from '../state/state.ts';

/** Rejects with ApiError if the data is older than the members of a cluster may be. */
export async function requireCurrent(state: Pick<State, 'others'>): Promise<void> {
  if ((await state.others?.isCurrent()) === false) throw unread(state);
}

interface Problem {
  readonly problem?: string | undefined;
}

/** A request, and the changes that were read for it. */
export interface Overtakable {
  readonly services: {
    readonly state: {
      readonly index: bigint;
      /** Undefined for a controller without a cluster. */
      readonly others?: (Pick<Others, 'catchUpTo'> & Problem) | undefined;
    };
  };
  readonly caughtUp?: CatchUp | undefined;
}

/** Rejections of requests that a change of another controller may have overtaken. */
export interface Overtaken<Request, Rejection> {
  /** Whether the error rejects something unknown. */
  isUnknown(error: unknown, request: Request): error is Rejection;
  /** The newest birth of the tokens that the request names. */
  birthOf(request: Request): bigint;
  /** Whether a controller that cannot read on may be wrong. `isBehind`: it does not have the birth of a token. */
  mayBeWrong(error: Rejection, request: Request, isBehind: boolean): boolean;
}

/**
 * Does the work of a request. If that rejects something unknown, reads the changes of others until the birth of the
 * request's tokens, but no longer than a client waits, and does it once more. A controller that cannot read on rejects
 * nothing that may exist, and says so.
 */
export async function withNewest<Request extends Overtakable, Rejection, T>(
  request: Request,
  overtaken: Overtaken<Request, Rejection>,
  work: () => Promise<T> | T,
): Promise<T> {
  const { state } = request.services;
  const began = state.index;
  try {
    return await work();
  } catch (error) {
    if (!state.others || !overtaken.isUnknown(error, request)) throw error;
    const birth = overtaken.birthOf(request);
    const isRetried = request.caughtUp === undefined;
    const caughtUp = request.caughtUp ?? (await state.others.catchUpTo(birth));
    const isNew = caughtUp === 'new' || (caughtUp === 'same' && state.index > began); // some arrived during the work
    if (isNew && isRetried) return work();
    const mayBeWrong = caughtUp === 'unread' && overtaken.mayBeWrong(error, request, birth > state.index);
    throw mayBeWrong ? unread(state) : error;
  }
}

function unread({ others }: { readonly others?: Problem | undefined }): ApiError {
  const problem = others?.problem ?? 'the database did not answer in time';
  const message = `this controller does not know the newest changes: ${problem}; try again, or another controller`;
  return new ApiError('DATA_NOT_REACHED', { code: 'UNHANDLED', message });
}
