// Priorities for systemd's journal, which reads them from a prefix of each line (sd-daemon(3)): `journalctl -p warning`
// then finds warnings.

import { fstatSync } from 'node:fs';

/** syslog(3) */
const PRIORITIES: Readonly<Record<string, number>> = { fatal: 2, error: 3, warn: 4, info: 6, debug: 7, trace: 7 };

/** Whether the journal reads this file descriptor: JOURNAL_STREAM contains its device and inode. */
export function isReadByJournal(descriptor: number, environment: NodeJS.ProcessEnv = process.env): boolean {
  const { JOURNAL_STREAM: stream } = environment;
  if (stream === undefined) return false;
  try {
    const { dev, ino } = fstatSync(descriptor, { bigint: true });
    return stream === `${dev}:${ino}`;
  } catch {
    return false; // closed
  }
}

/** The prefix of a line with this level. */
export function journalPrefix(level: string): string {
  const priority = PRIORITIES[level];
  return priority === undefined ? '' : `<${priority}>`;
}
