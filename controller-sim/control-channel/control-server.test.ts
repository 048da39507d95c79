// Control channels that are opened for one router at the same time.

import t from 'tap';
import { ChannelHeader, ChannelType } from '#wire/gen/numbers.ts';
import { Message } from '#wire/message.ts';
import { formatVersionInfo, ownVersionInfo } from '#wire/version-info.ts';
import { ControlRoom } from '../../test/support/control-room.ts';
import { ControlServer } from './control-server.ts';

t.test('the second of two simultaneous channels of a router is rejected', async (t) => {
  using room = await ControlRoom.open();
  const { context } = room;
  const version = ownVersionInfo('0.0.0');
  const server = new ControlServer(context, { version, apiAddresses: '{}', churnLimit: 0, isClusterMember: false });
  t.teardown(() => server.close());
  const hello = new Message(ChannelType.Hello, [[ChannelHeader.HelloVersion, formatVersionInfo(version)]]);
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  const first = server.openChannel('r3', hello, 'first', true);
  t.throws(() => server.openChannel('r3', hello, 'second', true), /already connecting/);
  await turn();
  t.equal(context.network.routers.get('r3')?.channel, first);
  t.throws(() => server.openChannel('r3', hello, 'third', true), /already connected; closed the old connection/);
  t.ok(first.isClosed);
  await turn();
  const next = server.openChannel('r3', hello, 'fourth', true);
  await turn();
  t.equal(context.network.routers.get('r3')?.channel, next);
  next.close();
  await turn();
  t.notOk(room.clock.timers().includes('address for a router'), 'a router that left receives no address');
});
