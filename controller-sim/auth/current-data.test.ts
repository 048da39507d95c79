// Requests that are rejected for something unknown, while other controllers change the data.

import t from 'tap';
import { ApiError } from '../errors/errors.ts';
import type { CatchUp } from '../state/other-controllers.ts';
import { type Overtakable, type Overtaken, withNewest } from './current-data.ts';

const BIRTH = 7n;
const NEXT = 2n;
const UNKNOWN = new ApiError('NOT_FOUND');

const OVERTAKEN: Overtaken<Overtakable, ApiError> = {
  isUnknown: (error): error is ApiError => error instanceof ApiError && error.code === 'NOT_FOUND',
  birthOf: () => BIRTH,
  mayBeWrong: (_error, _request, isBehind) => isBehind,
};

/** The request of a controller at an index, whose store answers like this; undefined: it is alone. */
function requestAt(index: bigint, answer: CatchUp | undefined, caughtUp?: CatchUp) {
  const read: bigint[] = [];
  const catchUpTo = async (to: bigint, found: CatchUp) => {
    read.push(to);
    return found;
  };
  const state = { index, ...(answer && { others: { catchUpTo: (to: bigint) => catchUpTo(to, answer) } }) };
  return { request: { services: { state }, caughtUp }, read, state };
}

interface Case {
  readonly what: string;
  readonly answer: CatchUp | undefined;
  readonly caughtUp?: CatchUp;
  readonly index?: bigint;
  /** The index after the work. */
  readonly later?: bigint;
  readonly rejection?: Error;
  readonly reads: number;
  readonly works: number;
  readonly code?: string;
}

const CASES: readonly Case[] = [
  { what: 'is done once more after new changes', answer: 'new', reads: 1, works: 2 },
  { what: 'is rejected at once without other controllers', answer: undefined, reads: 0, works: 1, code: 'NOT_FOUND' },
  { what: 'is rejected without new changes', answer: 'same', reads: 1, works: 1, code: 'NOT_FOUND' },
  { what: 'meets new changes while it is done', answer: 'same', later: NEXT, reads: 1, works: 2 },
  { what: 'may be right if nothing can be read', answer: 'unread', reads: 1, works: 1, code: 'DATA_NOT_REACHED' },
  { what: 'names nothing newer', answer: 'unread', index: BIRTH, reads: 1, works: 1, code: 'NOT_FOUND' },
  { what: 'has read on before', answer: 'new', caughtUp: 'new', reads: 0, works: 1, code: 'NOT_FOUND' },
  { what: 'is rejected for a reason', answer: 'new', rejection: new TypeError('a bug'), reads: 0, works: 1 },
];

for (const { what, answer, caughtUp, index = 1n, later = index, rejection = UNKNOWN, reads, works, code } of CASES)
  t.test(`a request that ${what}`, async (t) => {
    const { request, read, state } = requestAt(index, answer, caughtUp);
    let worked = 0;
    const outcome = withNewest(request, OVERTAKEN, () => {
      worked++;
      state.index = later;
      if (worked === 1) throw rejection;
      return 'found';
    });
    if (code !== undefined) await t.rejects(outcome, { code });
    else if (rejection !== UNKNOWN) await t.rejects(outcome, rejection);
    else t.equal(await outcome, 'found');
    t.same(
      read,
      Array.from({ length: reads }, () => BIRTH),
    );
    t.equal(worked, works);
  });
