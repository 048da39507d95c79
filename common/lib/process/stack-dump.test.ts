// The report of the activity of a process.

import { once } from 'node:events';
import { createServer } from 'node:net';
import t from 'tap';
import { VirtualClock } from '../time/clock.ts';
import { stackDump } from './stack-dump.ts';

t.test('the report has the load, the memory, the timers and what is open, with their counts', async (t) => {
  const clock = new VirtualClock();
  for (const name of ['probe', 'sweep', 'probe']) clock.after(name, 1_000, () => undefined);
  while (performance.eventLoopUtilization().idle < 10) await new Promise((resolve) => setTimeout(resolve, 5));
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const lines = stackDump(clock).split('\n');
  const [loop = '', program = '', memory = ''] = lines;
  const [busy = 0, active = 0, total = 0] = (loop.match(/[\d.]+/g) ?? []).map(Number);
  t.match(loop, /^event loop: [\d.]+ % busy, \d+ ms of \d+ ms$/);
  t.ok(total >= active + 9, loop);
  t.ok(Math.abs((active / total) * 100 - busy) < 2, loop);
  t.match(program, new RegExp(`^process: pid ${process.pid}, up \\d+ s, cpu \\d+ ms, node ${process.version}$`));
  const [, rss = 0, used = 0, heap = 0] = (/rss (\d+), heap (\d+) of (\d+)/.exec(memory) ?? []).map(Number);
  t.ok(rss > heap && heap > used && used > 0, memory);
  t.same(lines.slice(3, 7), ['', 'timers:', '  1 sweep', '  2 probe']);
  t.same(lines.slice(7, 9), ['', 'open:']);
  t.ok(lines.slice(9).includes('  1 TCPServerWrap'), lines.slice(9).join());
});
