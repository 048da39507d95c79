// A controller that is unreachable for hours: open circuits continue, no resources accumulate in the routers, and the
// network recovers soon after its return.

import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import { createLog } from '#lib/log/log.ts';
import { transfer } from '../../examples/two-routers/transfer.ts';
import { Overlay } from '../support/networks/overlay.ts';
import { SkippingClock } from '../support/programs/skipping-clock.ts';
import { until } from '../support/until.ts';

const MINUTE = 60_000;
const HALF_HOURS = 6;
const MIB = 1024 * 1024;
/** The longest pause of a router between two attempts to reach a controller. */
const MAX_PAUSE_MS = 7.5 * MINUTE;

t.test('a controller is unreachable for more than an hour', { timeout: 110_000 }, async (t) => {
  const clock = new SkippingClock();
  t.teardown(() => clock.stop());
  const lines: { time: number; msg: string }[] = [];
  const log = createLog({ write: (line) => void lines.push({ ...JSON.parse(line), time: clock.now() }) });
  const data = join(t.testdir(), 'sim.db');
  await using overlay = await Overlay.start({ churnLimit: 0, data });
  const a = await overlay.addRouter({ name: 'a', mode: 'proxy' }, { clock, log });
  const b = await overlay.addRouter({ name: 'b', mode: 'host' }, { clock, log });
  await overlay.addService('echo', b.id);
  await overlay.ready();
  const socket = connect(a.proxyPort, '127.0.0.1');
  t.teardown(() => socket.destroy());
  const echo = async (text: string) => {
    socket.write(text);
    const [answer] = await once(socket, 'data');
    return String(answer);
  };
  t.equal(await echo('hello'), 'hello');
  await overlay.simulator.close();
  lines.length = 0;
  const timersAt: number[] = [];
  for (let half = 1; half <= HALF_HOURS; half++) {
    for (let part = 0; part < 2; part++) {
      await clock.skip(15 * MINUTE);
      t.equal(await echo(`${half}:${part}`), `${half}:${part}`);
    }
    timersAt.push(clock.timers().length);
    await t.rejects(transfer(a.proxyPort, 1), 'a new circuit is rejected at once');
  }
  t.ok(Math.max(...timersAt.slice(1)) <= (timersAt[0] ?? 0) + 2, `timers at each half hour: ${timersAt.join(', ')}`);
  const about = Object.entries(Object.groupBy(lines, ({ msg }) => msg)).map(([msg, list = []]) => [msg, list.length]);
  t.ok(lines.length < HALF_HOURS * 50, `lines of the log: ${JSON.stringify(about)}`);
  await overlay.restart({ data });
  const back = clock.now();
  const isBack = () => [a, b].every(({ router }) => router.describe().controllers.length > 0);
  // Keep the circuits busy: a restarted controller does not know them and removes idle ones. And skip second by second:
  // a reconnected router checks whether the other ends of its circuits still exist.
  while (!isBack() && clock.now() - back < MAX_PAUSE_MS) {
    await echo('in use');
    await clock.skip(1_000);
  }
  t.ok(isBack(), 'the routers reconnect within the longest pause');
  t.equal(await echo('still there'), 'still there');
  await until('new circuits', async () => (await transfer(a.proxyPort, MIB).catch(() => ({ bytes: 0 }))).bytes === MIB);
  const terminators = await overlay.management.terminators.list();
  t.equal(terminators.length, 1, 'there is exactly one terminator');
  socket.destroy();
});

t.test('a router that starts without a controller knows the network of its last run', async (t) => {
  const lines: { msg: string; service?: string }[] = [];
  const log = createLog({ write: (line) => void lines.push(JSON.parse(line)) });
  const data = join(t.testdir(), 'sim.db');
  await using overlay = await Overlay.start({ churnLimit: 0, data });
  const a = await overlay.addRouter({ name: 'a', mode: 'proxy' });
  const b = await overlay.addRouter({ name: 'b', mode: 'host' });
  await overlay.addService('echo', b.id);
  await overlay.ready();
  await overlay.simulator.close();
  await b.router.close({ drain: 0 });
  b.router = await overlay.startRouter(b.configFile, { log });
  t.match(
    lines.filter(({ msg }) => ['data model loaded from its file', 'service hosted'].includes(msg)),
    [{ services: 1 }, { service: 'echo' }],
  );
  await overlay.restart({ data });
  await until('new circuits', async () => (await transfer(a.proxyPort, MIB).catch(() => ({ bytes: 0 }))).bytes === MIB);
  await b.router.close({ drain: 0 });
  lines.length = 0;
  b.router = await overlay.startRouter(b.configFile, { log });
  await until('a terminator', () => lines.some(({ msg }) => msg === 'terminator established'));
  const received = lines.filter(({ msg }) => msg === 'data model received');
  t.same(received, [], 'nothing has changed, so the controller sends nothing');
});
