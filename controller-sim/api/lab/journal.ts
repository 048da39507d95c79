// The journal of requests and messages in the lab API.

import type { LabJournal } from '#schemas/api/gen/answers.ts';
import type { JournalEntry, JournalFilter } from '../../lab/journal/journal-entry.ts';
import { VerificationError } from '../../lab/journal/verification.ts';
import { InvalidError } from '../../lab/lab-error.ts';
import { answering } from './lab-handler.ts';

/** Entries in one answer. */
const DEFAULT_ENTRIES = 100;
const MAX_ENTRIES = 1_000;
/** Milliseconds of a wait without a time limit of its own. */
const DEFAULT_TIMEOUT_MS = 10_000;

export const journalHandlers = {
  listJournal: answering<'listJournal'>(({ journal }, { limit = DEFAULT_ENTRIES, ...filter }) =>
    // The journal checks the kind.
    journal.entries({ ...(filter as JournalFilter), limit: Math.min(limit, MAX_ENTRIES) }).map(shown),
  ),
  verifyJournal: answering<'verifyJournal'>(async ({ journal }, { times, within, ...filter }) => {
    const options = { ...(times !== undefined && { times }), ...(within !== undefined && { within }) };
    try {
      return { verified: true, count: await journal.verifyCount(filter, options) };
    } catch (error) {
      if (!(error instanceof VerificationError)) throw error;
      return { verified: false, count: error.count, message: error.message };
    }
  }),
  waitForEntry: answering<'waitForEntry'>(async ({ journal }, { timeout, ...filter }) => {
    try {
      await journal.verifyCount(filter, { within: timeout ?? DEFAULT_TIMEOUT_MS });
    } catch (error) {
      if (error instanceof InvalidError && error.field === 'within')
        throw new InvalidError('timeout', error.message, timeout);
      if (!(error instanceof VerificationError)) throw error;
      return { message: error.message };
    }
    const { after = 0, ...conditions } = filter;
    const [entry] = journal.entries({ ...conditions, after, limit: 1 });
    // Another caller may have cleared the journal meanwhile.
    return entry ? { entry: shown(entry) } : { message: 'the entry came, and the journal was cleared' };
  }),
  patchJournal: answering<'patchJournal'>((lab, { links }) => {
    lab.recordLinks(links);
    return { links: lab.recordsLinks };
  }),
};

function shown(entry: JournalEntry): LabJournal[number] {
  return { ...entry, time: entry.time.toISOString() };
}
