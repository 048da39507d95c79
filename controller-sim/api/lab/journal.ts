// The journal of requests and control messages in the lab API.

import { withoutNulls } from '#lib/json/without-nulls.ts';
import type { LabJournal, LabVerified } from '#schemas/api/gen/answers.ts';
import type { JournalVerify } from '#schemas/api/gen/bodies.ts';
import type { JournalFilter, JournalKind } from '../../lab/journal/journal-entry.ts';
import { VerificationError } from '../../lab/journal/verification.ts';
import { InvalidError } from '../../lab/lab-error.ts';
import type { Data, Done, Handlers } from '../operations/context.ts';
import { labHandler } from './lab-handler.ts';

/** Entries in one answer. */
const DEFAULT_ENTRIES = 100;
const MAX_ENTRIES = 1_000;

export const journalHandlers = {
  listJournal: labHandler(
    ({ journal }, { query }): Data<LabJournal> => ({
      data: journal.entries(filterOf(query)).map((entry) => ({ ...entry, time: entry.time.toISOString() })),
    }),
  ),
  verifyJournal: labHandler<Data<LabVerified>, JournalVerify>(async ({ journal }, { body }) => {
    const { times, within, ...filter } = withoutNulls(body);
    const options = { ...(times !== undefined && { times }), ...(within !== undefined && { within }) };
    try {
      return { data: { verified: true, count: await journal.verifyCount(filter, options) } };
    } catch (error) {
      if (!(error instanceof VerificationError)) throw error;
      return { data: { verified: false, count: error.count, message: error.message } };
    }
  }),
  clearJournal: labHandler(({ journal }): Done => {
    journal.clear();
    return { data: {} };
  }),
} satisfies Partial<Handlers<'lab'>>;

function filterOf(query: URLSearchParams): JournalFilter {
  const kind = query.get('kind');
  const after = query.get('after');
  const failed = query.get('failed');
  const limit = query.get('limit');
  const status = query.get('status');
  const texts = (['identity', 'router', 'path', 'operation', 'method', 'fault'] as const).flatMap((name) => {
    const text = query.get(name);
    return text === null ? [] : [[name, text]];
  });
  return {
    ...Object.fromEntries(texts),
    limit: Math.min(limit === null ? DEFAULT_ENTRIES : numberOf(limit, 'limit'), MAX_ENTRIES),
    ...(kind !== null && { kind: kind as JournalKind }), // the journal checks it
    ...(status !== null && { status: numberOf(status, 'status') }),
    ...(after !== null && { after: numberOf(after, 'after') }),
    ...(failed !== null && { failed: flagOf(failed) }),
  };
}

/** The journal rejects what is not a whole number. */
function numberOf(text: string, name: string): number {
  if (!/^\d+$/.test(text)) throw new InvalidError(name, 'use a whole number of at least 0', text);
  return Number(text);
}

function flagOf(text: string): boolean {
  if (text !== 'true' && text !== 'false') throw new InvalidError('failed', 'use true or false', text);
  return text === 'true';
}
