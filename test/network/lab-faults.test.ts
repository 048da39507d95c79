// Faults and the journal of the lab with real routers: control messages and connections in the journal, lost and
// delayed messages, disconnects.

import t from 'tap';
import { SystemClock } from '#lib/time/clock.ts';
import type { ControlEntry } from '../../controller-sim/lab/journal/journal-entry.ts';
import { transfer } from '../../examples/two-routers/transfer.ts';
import { Overlay, proxyNetwork } from '../support/networks/overlay.ts';
import { SkippingClock } from '../support/programs/skipping-clock.ts';
import { until } from '../support/until.ts';

const BYTES = 64 * 1024;
/** Milliseconds; entries have whole ones. */
const DELAY = 300;
const ROUTE_TIMEOUT = 10_000;

t.test('control channels in the journal; a delayed Route makes a circuit wait', async (t) => {
  const { overlay, a, b } = await proxyNetwork();
  await using _ = overlay;
  const { journal, faults } = overlay.simulator.lab;
  const control = (filter: object) => journal.entries({ kind: 'control', ...filter }) as ControlEntry[];
  t.equal(control({}).filter(({ event }) => event === 'connected').length, 2);
  t.notOk(control({}).some(({ message }) => message === 'Heartbeat'));
  const start = journal.last;
  const { id } = faults.add({ kind: 'control', router: 'b', message: 'Route', delay: DELAY, times: 1 });
  t.equal((await transfer(a.proxyPort, BYTES)).bytes, BYTES);
  const messages = control({ router: 'b', after: start });
  const [sent] = messages.filter(({ message }) => message === 'Route');
  const [result] = messages.filter(({ message }) => message === 'RouteResult');
  t.match(sent, { direction: 'out', router: { id: b.id, name: 'b' }, fault: id });
  t.match(result, { direction: 'in', content: { success: true, text: /./ } });
  const circuit = (sent?.content as { circuitId?: string } | undefined)?.circuitId;
  t.match(sent?.content, { circuitId: /./, egress: { binding: /./ } });
  t.equal(result?.content?.text, circuit, 'the answer names the circuit');
  t.ok((sent?.bytes ?? 0) > 10);
  t.ok(Number(result?.time) - Number(sent?.time) >= DELAY - 1, 'the router has the Route only after the delay');
  t.match(faults.list(), [{ id, hits: 1 }]);
  t.equal((await transfer(a.proxyPort, BYTES)).bytes, BYTES, 'the fault is used up');
});

t.test('a circuit fails while its Routes are lost', { timeout: 60_000 }, async (t) => {
  const clock = new SkippingClock();
  t.teardown(() => clock.stop());
  await using overlay = await Overlay.start({ churnLimit: 0, clock });
  const a = await overlay.addRouter({ name: 'a', mode: 'proxy' }, { clock });
  const b = await overlay.addRouter({ name: 'b', mode: 'host' }, { clock });
  await overlay.addService('echo', b.id);
  await overlay.ready();
  const { journal, faults } = overlay.simulator.lab;
  const { id } = faults.add({ kind: 'control', router: 'b', message: 'Route', direction: 'out', drop: true });
  const lost = transfer(a.proxyPort, BYTES).then(
    ({ bytes }) => bytes,
    () => 0,
  );
  for (const attempt of [1, 2]) {
    await until('a lost Route', () => faults.list()[0]?.hits === attempt);
    await clock.skip(ROUTE_TIMEOUT);
  }
  t.match(
    journal.entries({ router: 'b' }).filter(({ fault }) => fault === id),
    Array(2).fill({ message: 'Route', direction: 'out' }),
  );
  t.equal(await lost, 0, 'the client sees a closed connection');
  faults.clear();
  t.equal((await transfer(a.proxyPort, BYTES)).bytes, BYTES);
});

t.test('a disconnected router comes back, unless its connections are rejected', { timeout: 60_000 }, async (t) => {
  const { overlay, a, b } = await proxyNetwork();
  await using _ = overlay;
  const { journal, faults } = overlay.simulator.lab;
  const event = (name: string, after: number) =>
    journal.waitFor((entry) => entry.kind === 'control' && entry.event === name && entry.router.id === b.id, {
      after,
      timeout: 30_000,
    });
  const first = journal.last;
  faults.disconnect('b');
  await event('disconnected', first);
  await event('connected', first);
  await until('new circuits', async () => (await transfer(a.proxyPort, BYTES).catch(() => ({ bytes: 0 }))).bytes > 0);

  const second = journal.last;
  const { id } = faults.add({ kind: 'control', router: b.id, reject: true });
  faults.disconnect(b.id);
  const rejected = await event('rejected', second);
  t.match(rejected, { fault: id, router: { id: b.id, name: 'b' }, reason: /rejected by the fault/ });
  t.same(journal.entries({ failed: true, router: 'b', after: second, limit: 1 }), [rejected]);
  t.throws(() => faults.disconnect('b'), /router b is not connected; connected are a/);
  faults.remove(id);
  await event('connected', second);
  t.throws(() => faults.disconnect('c'), { code: 'NOT_FOUND' });
});

t.test('held messages end with their channel', async (t) => {
  const clock = new SystemClock();
  await using overlay = await Overlay.start({ churnLimit: 0, clock });
  const b = await overlay.addRouter({ name: 'b', mode: 'host' });
  const { faults, journal } = overlay.simulator.lab;
  const held = () => clock.timers().filter((name) => name === 'fault delay').length;
  faults.add({ kind: 'control', router: 'b', delay: '50s' });
  await overlay.management.services.create({ name: 'changes the data model', encryptionRequired: false });
  await until('a held message', () => held() > 0);
  faults.clear();
  const after = journal.last;
  faults.disconnect('b');
  await journal.waitFor(
    (entry) => entry.kind === 'control' && entry.event === 'connected' && entry.router.id === b.id,
    { after, timeout: 30_000 },
  );
  t.equal(held(), 0);
});
