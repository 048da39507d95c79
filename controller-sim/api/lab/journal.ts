// The journal of requests and messages in the lab API.

import { withoutNulls } from '#lib/json/without-nulls.ts';
import type { LabJournal, LabJournalState, LabRecording, LabVerified, LabWaited } from '#schemas/api/gen/answers.ts';
import type { JournalPatch, JournalVerify, JournalWait } from '#schemas/api/gen/bodies.ts';
import type { JournalEntry, JournalFilter, JournalKind } from '../../lab/journal/journal-entry.ts';
import { VerificationError } from '../../lab/journal/verification.ts';
import { InvalidError } from '../../lab/lab-error.ts';
import type { Data, Done, Handlers } from '../operations/context.ts';
import { labHandler } from './lab-handler.ts';

/** Entries in one answer. */
const DEFAULT_ENTRIES = 100;
const MAX_ENTRIES = 1_000;
/** Milliseconds of a wait without a time limit of its own. */
const DEFAULT_TIMEOUT_MS = 10_000;

export const journalHandlers = {
  listJournal: labHandler(
    ({ journal }, { query }): Data<LabJournal> => ({
      data: journal.entries({ ...filterOf(query), limit: limitOf(query.get('limit')) }).map(shown),
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
  waitForEntry: labHandler<Data<LabWaited>, JournalWait>(async ({ journal }, { body }) => {
    const { timeout, ...filter } = withoutNulls(body);
    try {
      await journal.verifyCount(filter, { within: timeout ?? DEFAULT_TIMEOUT_MS });
    } catch (error) {
      if (error instanceof InvalidError && error.field === 'within')
        throw new InvalidError('timeout', error.message, timeout);
      if (!(error instanceof VerificationError)) throw error;
      return { data: { message: error.message } };
    }
    const { after = 0, ...conditions } = filter;
    const [entry] = journal.entries({ ...conditions, after, limit: 1 });
    // Another caller may have cleared the journal meanwhile.
    return { data: entry ? { entry: shown(entry) } : { message: 'the entry came, and the journal was cleared' } };
  }),
  recordJournal: labHandler(
    ({ journal }, { query }): Data<LabRecording> => ({ data: journal.recording(filterOf(query)) }),
  ),
  patchJournal: labHandler<Data<LabJournalState>, JournalPatch>((lab, { body: { links } }) => {
    lab.recordLinks(links);
    return { data: { links: lab.recordsLinks } };
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
  const status = query.get('status');
  const texts = (['identity', 'router', 'message', 'path', 'operation', 'method', 'fault'] as const).flatMap((name) => {
    const text = query.get(name);
    return text === null ? [] : [[name, text]];
  });
  return {
    ...Object.fromEntries(texts),
    ...(kind !== null && { kind: kind as JournalKind }), // the journal checks it
    ...(status !== null && { status: numberOf(status, 'status') }),
    ...(after !== null && { after: numberOf(after, 'after') }),
    ...(failed !== null && { failed: flagOf(failed) }),
  };
}

function limitOf(text: string | null): number {
  return Math.min(text === null ? DEFAULT_ENTRIES : numberOf(text, 'limit'), MAX_ENTRIES);
}

function shown(entry: JournalEntry): LabJournal[number] {
  return { ...entry, time: entry.time.toISOString() };
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
