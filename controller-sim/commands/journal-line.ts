// One line for an entry of the journal.
//
//   12  10:15:00.123  POST /edge/client/v1/authenticate?method=password  401 INVALID_AUTH  2.1 ms  127.0.0.1
//   13  10:15:00.204  router-a ← Route  118 bytes

import { count } from '#lib/text/count.ts';
import { inOneLine } from '#lib/text/shown-text.ts';
import type { ControlEntry, HttpEntry } from '../lab/journal/journal-entry.ts';

type AsJson<Entry> = Omit<Entry, 'time'> & { readonly time: string };
/** An entry as the lab API answers it. */
export type ShownEntry = AsJson<HttpEntry> | AsJson<ControlEntry>;

export function journalLine(entry: ShownEntry): string {
  const { sequence, time, fault } = entry;
  const parts = [
    String(sequence).padStart(5),
    time.slice(11, 23),
    ...(entry.kind === 'http' ? httpParts(entry) : controlParts(entry)),
    ...(fault === undefined ? [] : [`[fault ${fault}]`]),
  ];
  return inOneLine(parts.join('  '));
}

/** The entry without what differs between two runs of the same scenario: number, time, duration, size and address. */
export function stableEntry(entry: ShownEntry): Partial<ShownEntry> {
  // Answers have times; headers have names of programs with their versions.
  const { sequence: _sequence, time: _time, source: _source, bytes: _bytes, ...rest } = entry;
  if (!('duration' in rest)) return rest;
  const { duration: _duration, headers: _headers, answer: _answer, answerHeaders: _answerHeaders, ...request } = rest;
  return request;
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

function controlParts({ event, router, direction, message, bytes, reason, source }: AsJson<ControlEntry>): string[] {
  const name = router.name ?? router.id ?? 'unknown router';
  if (event === 'message') return [`${name} ${direction === 'in' ? '→' : '←'} ${message}`, count(bytes ?? 0, 'byte')];
  return [`${name} ${event}`, ...[reason, source].filter((each) => each !== undefined)];
}
