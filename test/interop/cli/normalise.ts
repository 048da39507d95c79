// Removes the output that may differ between two controllers: ids, dates, tokens, addresses, widths of columns, the
// order of rows.

import type { Outcome } from './side.ts';

const RULES: readonly (readonly [RegExp, string])[] = [
  [/-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----/gs, '<certificate>'],
  // The command line panics on some errors: its stack does not come from a controller.
  [/\n\ngoroutine \d+ \[.*/gs, ''],
  [/\beyJ[\w-]+\.[\w-]+\.[\w-]*/g, '<token>'],
  [/\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?: ?(?:Z|UTC|[+-]\d\d:?\d\d))*/g, '<date>'],
  [/"requestId":"[^"]*"/g, '"requestId":"<id>"'],
  [/\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b/g, '<id>'],
  [/\b[0-9a-f]{40}\b/g, '<fingerprint>'],
  [/\b(?:127\.0\.0\.1|localhost):\d{4,5}\b/g, '<address>'],
  [/\b(?=\w*\d)(?=\w*[A-Za-z])\w{19,25}\b/g, '<id>'],
  [/\b[0-9a-f]{48,}\b/g, '<id>'],
  [/\b[0-9a-f]{4}\.\.\.[0-9a-f]{2}\b/g, '<fingerprint>'],
  // The command line prints the addresses of some ids instead of the ids.
  [/\b0x[0-9a-f]{8,}\b/g, '<pointer>'],
  [/\bctrl-[\w.-]{10}|\binstance-1\b/g, '<controller>'],
  [/\bv\d+\.\d+\.\d+\b/g, '<version>'],
  [/\b(latency|time_since_last_write): .*/g, '$1: <duration>'],
  [/\b(index|timeline|expiresAt): .*/g, '$1: <any>'],
  [/\/tmp\/edgeweave-test-\w+/g, '<folder>'],
  [/\[\s*\d+\.\d+\]/g, '[<seconds>]'],
];

/**
 * The exit code and the printed text in a form that can be compared.
 * @param ids the controller's ids, each with what replaces it.
 */
export function normalised({ code, output }: Outcome, ids: ReadonlyMap<string, string>): string {
  let text = output;
  for (const [id, name] of ids) text = text.replaceAll(id, name);
  for (const [pattern, replacement] of RULES) text = text.replace(pattern, replacement);
  const lines = text
    .split('\n')
    .filter((line) => !/^[╭├╰]/.test(line))
    .map((line) => (line.startsWith('│') ? cells(line) : line.replace(/ +/g, ' ').trim()));
  return [`exit code ${code}`, ...lines.filter((line) => line !== '').sort()].join('\n');
}

function cells(row: string): string {
  return row
    .split('│')
    .map((cell) => cell.trim())
    .join('│');
}
