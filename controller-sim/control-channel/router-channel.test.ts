// Messages that faults hold back at the controller: their limits, and their end with the channel.

import t, { type Test } from 'tap';
import { silentLog } from '#lib/log/log.ts';
import { IoContext } from '#lib/net/io-context.ts';
import { seededRandom } from '#lib/random.ts';
import { VirtualClock } from '#lib/time/clock.ts';
import { SINGLE_CONTROL_LANE } from '#wire/channel/control-lanes.ts';
import { DEFAULT_HEARTBEAT } from '#wire/channel/heartbeat.ts';
import { ControlType } from '#wire/gen/numbers.ts';
import { Message } from '#wire/message.ts';
import { ControlTraffic } from '../lab/control-traffic.ts';
import { Faults } from '../lab/faults/faults.ts';
import { Journal } from '../lab/journal/journal.ts';
import { RouterChannel } from './router-channel.ts';

const MIB = 1024 * 1024;

/** A channel without connections: sent messages stay in its queue. */
function opened(t: Test) {
  const clock = new VirtualClock();
  const router = Object.assign(new Map([['r1', { name: 'one' }]]), {
    findBy: (_key: string, name: string) => (name === 'one' ? { name } : undefined),
  });
  const state = { tables: { router, identity: router } };
  const faults = new Faults({ state, network: { routers: new Map() }, random: seededRandom(1), wireClock: clock });
  const journal = new Journal({ wireClock: clock, log: silentLog });
  const channel = new RouterChannel(new ControlTraffic({ state, clock, journal, faults }), {
    name: 'router r1',
    peerId: 'r1',
    connectionId: 'c1',
    io: new IoContext({ clock }),
    log: silentLog,
    limits: { maxHeaders: MIB, maxBody: 64 * MIB, maxFields: 1_000 },
    lanes: SINGLE_CONTROL_LANE,
    heartbeat: DEFAULT_HEARTBEAT,
  });
  t.teardown(() => channel.close());
  const route = (body = '') => new Message(ControlType.Route, [], Buffer.from(body));
  return { clock, faults, journal, channel, route };
}

t.test('delayed messages are sent later, in their order, and within the limit', async (t) => {
  const { clock, faults, journal, channel, route } = opened(t);
  faults.add({ kind: 'control', message: 'Route', delay: 1_000 });
  for (let round = 1; round <= 2; round++) {
    for (let sent = 0; sent < 1_000; sent++) t.ok(channel.trySend(route()) || t.fail(`message ${sent}`));
    t.notOk(channel.trySend(route()), 'rejected like one that finds the lane full');
    t.ok(channel.trySend(new Message(ControlType.Unroute)), 'others are not held back');
    t.equal(channel.lane().queued, (round - 1) * 1_001 + 1);
    await clock.advance(1_000);
    t.equal(channel.lane().queued, round * 1_001);
  }
  const large = route('x'.repeat(40 * MIB));
  t.ok(channel.trySend(large));
  t.notOk(channel.trySend(large), 'the bytes are limited, too');
  t.match(journal.entries({ limit: 3 }), [{ message: 'Unroute' }, { message: 'Route', fault: 'f1' }, { fault: 'f1' }]);
  channel.close();
  await clock.advance(0);
  t.same(clock.timers(), []);
});

t.test('a request whose message is lost ends with its time limit', async (t) => {
  const { clock, faults, channel, route } = opened(t);
  faults.add({ kind: 'control', router: 'one', drop: true, times: 1 });
  const answer = channel.request(route(), { timeout: 5_000 });
  answer.catch(() => undefined);
  t.equal(channel.lane().queued, 0);
  await clock.advance(5_000);
  await t.rejects(answer, { code: 'TIMEOUT' });
  t.ok(channel.trySend(route()));
  t.equal(channel.lane().queued, 1);
});

t.test('duplicates and messages that the next one overtakes', async (t) => {
  const { clock, faults, channel } = opened(t);
  const types = () => sentTypes.splice(0).join();
  const sentTypes: number[] = [];
  const send = (type: number) => {
    const before = channel.lane().queued;
    channel.trySend(new Message(type));
    sentTypes.push(channel.lane().queued - before);
  };
  faults.add({ kind: 'control', message: 'Route', direction: 'out', duplicate: true, times: 1 });
  faults.add({ kind: 'control', message: 'Route', direction: 'out', reorder: true });
  send(ControlType.Route);
  send(ControlType.Route);
  send(ControlType.Unroute);
  t.equal(types(), '2,0,2', 'twice; held; the next one and the held one');
  t.equal(clock.timers().filter((name) => name === 'fault delay').length, 0);
  send(ControlType.Route);
  await clock.advance(1_000);
  send(ControlType.Unroute);
  t.equal(types(), '0,1', 'it passes after a second');
  t.equal(channel.lane().queued, 6);
});
