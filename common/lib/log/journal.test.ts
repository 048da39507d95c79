// Log lines for systemd's journal: priorities, and only where the journal reads them.

import { closeSync, fstatSync, openSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { isReadByJournal } from './journal.ts';
import { createLog } from './log.ts';

t.test('the journal is recognized by the device and inode of its stream', async (t) => {
  const descriptor = openSync(join(t.testdir({}), 'stream'), 'w');
  const { dev, ino } = fstatSync(descriptor);
  t.equal(isReadByJournal(descriptor, { JOURNAL_STREAM: `${dev}:${ino}` }), true);
  t.equal(isReadByJournal(descriptor, { JOURNAL_STREAM: `${dev}:${ino + 1}` }), false, 'output was redirected');
  t.equal(isReadByJournal(descriptor, { JOURNAL_STREAM: 'broken' }), false);
  t.equal(isReadByJournal(descriptor, {}), false);
  closeSync(descriptor);
  t.equal(isReadByJournal(descriptor, { JOURNAL_STREAM: `${dev}:${ino}` }), false);
});

t.test('each line has the priority of its level in both formats', async (t) => {
  const levels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace'] as const;
  for (const format of ['json', 'text'] as const) {
    const lines: string[] = [];
    const log = createLog({ format, level: 'trace', hasPriorities: true, write: (line) => void lines.push(line) });
    for (const level of levels) log.child({ component: 'link' })[level]({}, 'link lost');
    t.same(
      lines.map((line) => line.slice(0, 4)),
      ['<2>', '<3>', '<4>', '<6>', '<7>', '<7>'].map((prefix) => prefix + (format === 'json' ? '{' : lines[0]?.[3])),
    );
  }
});
