// Whether this controller may decide who somebody is. One that does not follow the others does not know who was
// deleted, disabled or logged out meanwhile. So it answers 503 to logins and to requests with a session, and clients go
// to another controller.

import { ApiError } from '../errors/errors.ts';
import type { State } from '../state/state.ts';

/** Rejects with ApiError if the data is older than the members of a cluster may be. */
export async function demandCurrent(state: State): Promise<void> {
  if ((await state.others?.isCurrent()) === false) throw unread(state);
}

export function unread({ others }: Pick<State, 'others'>): ApiError {
  const problem = others?.problem ?? 'the database did not answer in time';
  const message = `this controller does not know the newest changes: ${problem}; try again, or another controller`;
  return new ApiError('DATA_NOT_REACHED', { code: 'UNHANDLED', message });
}
