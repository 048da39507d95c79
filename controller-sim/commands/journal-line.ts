// One line for an entry of the journal.
//
//   12  10:15:00.123  POST /edge/client/v1/authenticate?method=password  401 INVALID_AUTH  2.1 ms  127.0.0.1
//   13  10:15:00.204  router-a ← Route  118 bytes  {"circuitId":"…"}
//   14  10:15:00.210  link router-a → router-b Payload  5 bytes  {"circuitId":"…"}

import { count } from '#lib/text/count.ts';
import { inOneLine } from '#lib/text/shown-text.ts';
import type { LabJournalEntry } from '#schemas/api/gen/answers.ts';
import type { ControlEntry, HttpEntry, LinkEntry } from '../lab/journal/journal-entry.ts';

/** Characters of the content of a message in its line. */
const MAX_CONTENT_LENGTH = 300;

type AsJson<Entry> = Omit<Entry, 'time'> & { readonly time: string };
/** The entry that the lab API answers, by its kind. */
type ShownEntry = AsJson<HttpEntry> | AsJson<ControlEntry> | AsJson<LinkEntry>;

export function journalLine(entry: LabJournalEntry): string {
  const { sequence, time, fault } = entry;
  const parts = [
    String(sequence).padStart(5),
    time.slice(11, 23),
    ...partsOf(entry as ShownEntry),
    ...(fault === undefined ? [] : [`[fault ${fault}]`]),
  ];
  return inOneLine(parts.join('  '));
}

function partsOf(entry: ShownEntry): string[] {
  if (entry.kind === 'http') return httpParts(entry);
  return entry.kind === 'link' ? linkParts(entry) : controlParts(entry);
}

const UNSTABLE: ReadonlySet<string> = new Set([
  'sequence',
  'time',
  'source',
  'bytes',
  'duration',
  'headers',
  'answer',
  'answerHeaders',
  'content',
]);

/** The entry without what differs between two runs of the same scenario: number, time, duration, size and address. */
export function stableEntry(entry: LabJournalEntry): Partial<LabJournalEntry> {
  // Answers and messages have times; headers have names of programs with their versions.
  return Object.fromEntries(Object.entries(entry).filter(([name]) => !UNSTABLE.has(name)));
}

function httpParts(entry: AsJson<HttpEntry>): string[] {
  const { method, path, query, status, code, reason, duration, source, identity, body } = entry;
  return [
    `${method} ${path}${query === undefined ? '' : `?${query}`}`,
    status === null ? 'no answer' : [status, code].filter((each) => each !== undefined).join(' '),
    ...(reason === undefined ? [] : [reason]),
    `${duration.toFixed(1)} ms`,
    identity ? `${identity.name} (${source})` : source,
    ...(body === undefined ? [] : [body]),
  ];
}

function controlParts(entry: AsJson<ControlEntry>): string[] {
  const { event, router, direction, message, bytes, content, reason, source } = entry;
  const name = router.name ?? router.id ?? 'unknown router';
  if (event === 'message')
    return [
      `${name} ${direction === 'in' ? '→' : '←'} ${message}`,
      count(bytes ?? 0, 'byte'),
      ...contentParts(content),
    ];
  return [`${name} ${event}`, ...[reason, source].filter((each) => each !== undefined)];
}

function linkParts({ router, peer, direction, message, bytes, content }: AsJson<LinkEntry>): string[] {
  const [own, other] = [router.name ?? router.id, peer.name ?? peer.id];
  const arrow = direction === 'in' ? '←' : '→';
  return [`link ${own} ${arrow} ${other} ${message}`, count(bytes, 'byte'), ...contentParts(content)];
}

/** A line shows the beginning: a message may have kilobytes. */
function contentParts(content: object | undefined): string[] {
  if (!content) return [];
  const text = JSON.stringify(content);
  return [text.length > MAX_CONTENT_LENGTH ? `${text.slice(0, MAX_CONTENT_LENGTH)}…` : text];
}
