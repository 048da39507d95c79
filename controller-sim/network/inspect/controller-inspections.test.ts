// The controller's own values in inspections: keys that peers choose may have the names of built-in properties.

import t from 'tap';
import { ControlRoom } from '../../../test/support/rooms/control-room.ts';
import { valuesOfController } from './controller-inspections.ts';

const BUILT_IN = ['constructor', '__proto__'];

t.test('connections are counted for each type that a router names', async (t) => {
  using room = await ControlRoom.open();
  const types = [...BUILT_IN, 'constructor', ''];
  for (const { router } of [room.r1, room.r2])
    Object.assign(router.channel, { underlays: types.map((type) => ({ type })) });
  const [first] = JSON.parse(JSON.stringify(valuesOfController(room.context, ['connected-routers'])[0]?.value));
  t.same(Object.entries(first.underlays), [
    ['constructor', 2],
    ['__proto__', 1],
    ['default', 1],
  ]);
});

t.test('identities are listed under any id', async (t) => {
  using room = await ControlRoom.open();
  for (const { router } of [room.r1, room.r2]) Object.assign(router.channel, { unanswered: 0 });
  for (const id of BUILT_IN) room.r1.router.identities.add(id);
  const found = valuesOfController(room.context, ['identity-connection-statuses'])[0]?.value;
  const { connections } = JSON.parse(JSON.stringify(found));
  for (const id of BUILT_IN) {
    const connection = new Map(Object.entries(connections)).get(id);
    t.match(connection, { connected_routers: { r1: { router_id: 'r1' } }, last_reported_state: 'online' }, id);
  }
});
