// A daemon's log under pressure: repeated lines, a reader that stalls, a reader that disconnects.

import { Writable } from 'node:stream';
import t from 'tap';
import { VirtualClock } from '../time/clock.ts';
import { DaemonLog } from './daemon-log.ts';
import { LineOutput } from './line-output.ts';

interface Line {
  readonly msg: string;
  readonly phrase?: string;
  readonly suppressed?: number;
  readonly lines?: number;
}

/** A reader that accepts chunks only while it is open. */
class Reader extends Writable {
  readonly taken: string[] = [];
  #pending: (() => void)[] = [];
  #isOpen: boolean;

  constructor(isOpen: boolean) {
    super({ decodeStrings: false });
    this.#isOpen = isOpen;
  }

  override _write(chunk: string, _encoding: string, done: () => void): void {
    const take = () => (this.taken.push(chunk), done());
    if (this.#isOpen) take();
    else this.#pending.push(take);
  }

  open(): void {
    this.#isOpen = true;
    for (const take of this.#pending.splice(0)) take();
  }

  get lines(): Line[] {
    return this.taken.filter((text) => text !== '').map((text) => JSON.parse(text) as Line);
  }
}

function soon(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function daemon(reader: Reader) {
  const clock = new VirtualClock();
  return { clock, daemonLog: new DaemonLog({ level: 'info', format: 'json', clock, sink: reader }) };
}

t.test('a repeated phrase is summarized, others are not affected', async (t) => {
  const reader = new Reader(true);
  const { clock, daemonLog } = daemon(reader);
  for (let index = 0; index < 5_000; index++) daemonLog.log.warn({ index }, 'frame dropped');
  daemonLog.log.info({}, 'something else');
  t.equal(reader.lines.filter(({ msg }) => msg === 'frame dropped').length, 100);
  t.equal(reader.lines.at(-1)?.msg, 'something else');
  await clock.advance(10_000);
  t.match(reader.lines.at(-1), { phrase: 'frame dropped', suppressed: 4_900 });
  daemonLog.log.warn({}, 'frame dropped');
  t.equal(reader.lines.at(-1)?.msg, 'frame dropped', 'lines are admitted again');
  for (let index = 0; index < 101; index++) daemonLog.log.warn({ index }, 'one too many');
  await clock.advance(10_000);
  t.match(reader.lines.at(-1), { phrase: 'one too many', suppressed: 1 });
  for (let index = 0; index < 3_000; index++) daemonLog.log.info({}, `text with data ${index}`);
  t.equal(reader.lines.filter(({ msg }) => msg.startsWith('text with data')).length, 3_000, 'different phrases');
  await daemonLog.close();
  t.same(clock.timers(), []);
});

t.test('lines of each level that is not for debugging are limited', async (t) => {
  const reader = new Reader(true);
  const clock = new VirtualClock();
  const daemonLog = new DaemonLog({ level: 'trace', format: 'json', clock, sink: reader });
  const { log } = daemonLog;
  for (const [level, expected] of [
    ['error', 100],
    ['warn', 100],
    ['info', 100],
    ['debug', 150],
    ['trace', 150],
  ] as const) {
    for (let index = 0; index < 150; index++) log[level]({ index }, `again with ${level}`);
    t.equal(reader.lines.filter(({ msg }) => msg === `again with ${level}`).length, expected, level);
  }
  await daemonLog.close();
});

t.test('unread lines are dropped and counted', async (t) => {
  const reader = new Reader(false);
  const reports: number[] = [];
  const output = new LineOutput({ sink: reader, limit: 100_000, onDropped: (count) => reports.push(count) });
  for (let index = 0; index < 1_000; index++) output.write(`${'x'.repeat(999)}\n`);
  t.equal(output.dropped, 900);
  t.equal(output.waiting, 100_000, 'bytes wait: the limit is used up');
  reader.open();
  while (reports.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  t.same(reports, [900], 'reported as soon as the reader reads');
  t.equal(output.waiting, 0);
  t.equal(reader.taken.length, 100, 'lines that waited are written');
  output.write('next\n');
  t.equal(reader.taken.at(-1), 'next\n');
});

t.test('closing does not wait for a stalled reader, and nothing is written to a disconnected one', async (t) => {
  const { clock, daemonLog } = daemon(new Reader(false));
  daemonLog.log.info({}, 'last words');
  const closing = daemonLog.close();
  await clock.advance(500);
  await closing;
  t.same(clock.timers(), []);
  const gone = new Reader(true);
  const output = new LineOutput({ sink: gone });
  gone.destroy(Object.assign(new Error('broken pipe'), { code: 'EPIPE' }));
  await new Promise((resolve) => gone.once('close', resolve));
  output.write('nobody\n');
  t.equal(output.dropped, 1);
  await output.close(clock, 500);
});

t.test('a log on a full disk continues when there is space, and tells how many lines are missing', async (t) => {
  /** Like the standard streams, it is not destroyed by an error. */
  class File extends Writable {
    isFull = true;
    readonly lines: string[] = [];

    override _write(chunk: Buffer, _encoding: string, done: (error?: Error) => void): void {
      if (!this.isFull) this.lines.push(String(chunk));
      done(this.isFull ? Object.assign(new Error('no space'), { code: 'ENOSPC' }) : undefined);
    }

    override _destroy(error: Error | null, done: (error: Error | null) => void): void {
      done(error);
      (this as unknown as { _undestroy(): void })._undestroy();
    }
  }
  const file = new File();
  const output = new LineOutput({ sink: file, onDropped: (count) => output.write(`${count} dropped`) });
  for (const line of ['one', 'two']) {
    output.write(line);
    await soon();
  }
  t.equal(output.dropped, 2);
  file.isFull = false;
  for (const line of ['three', 'four']) {
    output.write(line);
    await soon();
  }
  t.same(file.lines, ['three', '2 dropped', 'four']);
});

t.test('levels can change at run time, for all components or for one', async (t) => {
  const reader = new Reader(true);
  const { daemonLog } = daemon(reader);
  const { levels, log } = daemonLog;
  const link = log.child({ component: 'link' });
  const inner = link.child({ linkId: 'l1' });
  const control = log.child({ component: 'control' });
  const written = (task: () => void) => {
    const before = reader.lines.length;
    task();
    return reader.lines.length > before;
  };
  t.notOk(written(() => link.debug({}, 'd1')));
  levels.setComponent('link', 'debug');
  t.ok(written(() => link.debug({}, 'd2')));
  t.ok(
    written(() => inner.debug({}, 'd3')),
    'a child of the component has its level',
  );
  t.notOk(written(() => control.debug({}, 'd4')));
  levels.set('error');
  t.notOk(written(() => control.warn({}, 'w1')));
  t.ok(
    written(() => link.debug({}, 'd5')),
    'a component keeps its own level',
  );
  levels.setComponent('link', undefined);
  t.notOk(written(() => link.warn({}, 'w2')));
  t.notOk(
    written(() => log.child({ component: 'late' }).warn({}, 'w3')),
    'new components have the common level',
  );
  t.same(levels.components, { control: 'error', late: 'error', link: 'error' });
  t.throws(() => levels.setComponent('lnk', 'debug'), {
    code: 'UNKNOWN_COMPONENT',
    message: /known are control, late/,
  });
  await daemonLog.close();
});

t.test('a report is written at any log level: lines for people, one line of JSON for programs', (t) => {
  const clock = new VirtualClock();
  const readers = { text: new Reader(true), json: new Reader(true) };
  for (const format of ['text', 'json'] as const)
    new DaemonLog({ level: 'error', format, clock, sink: readers[format] }).report('report', ['a', 'b']);
  t.equal(readers.text.taken.join(''), '=== report ===\na\nb\n=== end of report ===\n');
  t.match(readers.json.lines, [{ level: 'info', msg: 'report', report: ['a', 'b'] }]);
  t.end();
});
