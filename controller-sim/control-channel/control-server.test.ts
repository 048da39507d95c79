// Control channels that are opened for one router at the same time, or while the router is disabled or deleted.

import t, { type Test } from 'tap';
import { seededRandom } from '#lib/random.ts';
import { formatVersionInfo, ownVersionInfo } from '#wire/channel/version-info.ts';
import { ChannelHeader, ChannelType } from '#wire/gen/numbers.ts';
import { Message } from '#wire/message.ts';
import { ControlRoom } from '../../test/support/rooms/control-room.ts';
import { Body } from '../entities/body.ts';
import { createTransitRouter } from '../entities/router.ts';
import { ControlTraffic } from '../lab/control-traffic.ts';
import { Faults } from '../lab/faults/faults.ts';
import { Journal } from '../lab/journal/journal.ts';
import type { Transaction } from '../state/transaction.ts';
import { ControlServer } from './control-server.ts';

/** A server in a room whose router r3 is enrolled but not connected, and the hello of r3. */
async function opened(t: Test) {
  const room = await ControlRoom.open();
  const { context } = room;
  const version = ownVersionInfo('0.0.0');
  const { clock } = room;
  const journal = new Journal({ wireClock: clock, log: context.log });
  const { state, network } = context;
  const faults = new Faults({ state, network, random: seededRandom(1), wireClock: clock });
  const traffic = new ControlTraffic({ state, clock, journal, faults });
  const options = { version, apiAddresses: '{}', churnLimit: 0 };
  const server = new ControlServer(context, traffic, options);
  t.teardown(() => {
    server.close();
    room[Symbol.dispose]();
  });
  const r3 = { id: 'r3', fingerprint: 'fingerprint-r3' };
  await room.change((transaction) =>
    createTransitRouter(transaction, 'r3', new Body({ name: 'r3', fingerprint: r3.fingerprint }, 'create'), undefined),
  );
  const hello = new Message(ChannelType.Hello, [[ChannelHeader.HelloVersion, formatVersionInfo(version)]]);
  const open = (connectionId: string) =>
    server.openChannel(r3, hello, { connectionId, grouped: true, remoteAddress: '127.0.0.1' });
  return { room, network: context.network, open, server };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

t.test('the second of two simultaneous channels of a router is rejected', async (t) => {
  const { room, network, open } = await opened(t);
  const first = open('first');
  t.throws(() => open('second'), /already connecting/);
  await turn();
  t.equal(network.routers.get('r3')?.channel, first);
  t.throws(() => open('third'), /already connected; closed the old connection/);
  t.ok(first.isClosed);
  await turn();
  const next = open('fourth');
  await turn();
  t.equal(network.routers.get('r3')?.channel, next);
  next.close();
  await turn();
  t.notOk(room.clock.timers().includes('address for a router'), 'a router that left receives no address');
});

t.test('a server that closes also closes the channels that it has just opened', async (t) => {
  const { network, open, server } = await opened(t);
  const channel = open('last');
  server.close();
  await turn();
  t.ok(channel.isClosed);
  t.notOk(network.routers.has('r3'));
});

const LOSSES: Readonly<Record<string, (transaction: Transaction) => void>> = {
  disabled: (transaction) => transaction.patch('router', 'r3', { disabled: true }),
  deleted: (transaction) => transaction.delete('router', 'r3'),
  're-enrolled': (transaction) => transaction.patch('router', 'r3', { fingerprint: null }),
  'given another certificate': (transaction) => transaction.patch('router', 'r3', { fingerprint: 'other' }),
};
for (const [loss, change] of Object.entries(LOSSES)) {
  t.test(`a router that is ${loss} after its verification does not connect`, async (t) => {
    const { room, network, open } = await opened(t);
    await room.change(change);
    t.throws(() => open('late'), /is disabled, deleted or re-enrolled/);
    await turn();
    t.notOk(network.routers.has('r3'));
  });

  t.test(`a router that is ${loss} while its channel opens does not connect`, async (t) => {
    const { room, network, open } = await opened(t);
    const changed = room.change(change);
    await turn(); // changes are committed in the second turn: after the channel opens, before the router is attached
    const channel = open('early');
    await changed;
    await turn();
    t.notOk(network.routers.has('r3'));
    t.ok(channel.isClosed);
  });
}
