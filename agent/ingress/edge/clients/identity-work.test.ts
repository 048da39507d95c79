// Clients whose identity has thousands of services, and which request the list of them all the time: the work of one
// turn is small, and all clients of the identity share the pace at which they are served.

import t from 'tap';
import { ServiceChangeSetSchema } from '#wire/gen/edge_client_pb.js';
import { ServicePolicyRelatedEntityType } from '#wire/gen/edge_control_pb.js';
import { SdkType } from '#wire/gen/numbers.ts';
import { type Model, type RoomClient, sdkRooms, settled } from '../../../../test/support/rooms/sdk-rooms.ts';

const SERVICES = 1_500;

/** An identity with many services. `looked` counts the services that the router looks up for lists. */
function manyServices() {
  const rooms = sdkRooms();
  const ids = Array.from({ length: SERVICES }, (_each, index) => `service-${index}`);
  const dataJson = JSON.stringify({ hostname: 'somewhere.example', port: 80 });
  const services: Model[] = ids.map((id) => ({ case: 'service', value: { id, name: id, configs: ['config'] } }));
  const relatedEntityType = ServicePolicyRelatedEntityType.RELATED_SERVICE;
  rooms.change(
    { case: 'configType', value: { id: 'type', name: 'type' } },
    { case: 'config', value: { id: 'config', name: 'config', typeId: 'type', dataJson } },
    ...services,
    { case: 'servicePolicyChange', value: { policyId: 'dial', relatedEntityType, relatedEntityIds: ids, add: true } },
  );
  const looked = { total: 0, inTurn: 0, mostInTurn: 0 };
  const { configDataFor } = rooms.model;
  rooms.model.configDataFor = function (...of) {
    looked.total++;
    looked.mostInTurn = Math.max(looked.mostInTurn, ++looked.inTurn);
    return configDataFor.apply(this, of);
  };
  /** The clock moves with each look at it, so that slices of work end. */
  const tick = () => {
    const { clock } = rooms;
    let now = clock.monotonic();
    clock.monotonic = () => (now += 0.05);
  };
  return { ...rooms, looked, tick };
}

const listsOf = (client: RoomClient) =>
  client.of(SdkType.ServiceChangeSet).map((message) => message.decode(ServiceChangeSetSchema));

t.test('a long list of services is made in many turns, and is complete', async (t) => {
  const { connect, looked, tick, change } = manyServices();
  const client = await connect();
  tick();
  client.tell(SdkType.Subscribe, 0);
  let turns = 0;
  for (; turns < 2_000 && listsOf(client).length === 0; turns++) {
    looked.inTurn = 0;
    await new Promise((resolve) => setImmediate(resolve));
  }
  t.ok(looked.mostInTurn <= 120, `${looked.mostInTurn} services in one turn`);
  t.ok(turns >= SERVICES / 100, `${turns} turns`);
  const [list] = listsOf(client);
  t.equal(list?.services.length, SERVICES + 1);
  t.same(list?.services[7]?.policyIds, ['dial']);
  t.same(list?.policies.map(({ id }) => id).sort(), ['bind', 'dial']);
  t.equal(list?.previousIndex, -1n);
  change({ case: 'service', value: { id: 'service-7', name: 'renamed' } });
  for (let turn = 0; turn < 500 && listsOf(client).length === 1; turn++) await settled();
  t.same(
    listsOf(client)[1]?.services.map(({ id, name }) => [id, name]),
    [['service-7', 'renamed']],
  );
  client.channel.close();
});

t.test('clients of one identity that subscribe all the time share one list and one pace', async (t) => {
  const { clock, connect, looked } = manyServices();
  const clients = await Promise.all(Array.from({ length: 10 }, () => connect()));
  const served = () => clients.reduce((sum, client) => sum + client.of(SdkType.ServiceChangeSet).length, 0);
  const flood = async (seconds: number) => {
    for (let turn = 0; turn < seconds * 10; turn++) {
      for (const client of clients) client.tell(SdkType.Subscribe, 0);
      await settled();
      await clock.advance(100);
    }
  };
  await flood(2);
  const first = served();
  t.ok(first >= 10 && first <= 40, `${first} lists at first`);
  await flood(20);
  t.ok(served() - first <= 20 * 7 + 10, `${served() - first} lists in 20 s`);
  t.ok(served() - first >= 40, 'they are served on');
  t.equal(looked.total, SERVICES + 1, 'the list is made once');
  for (const client of clients) client.channel.close();
  await settled();
  t.notOk(clock.timers().includes('work of an identity'));
  const again = await connect();
  for (let turn = 0; turn < 50; turn++) {
    again.tell(SdkType.Subscribe, 0);
    await settled();
  }
  t.ok(again.of(SdkType.ServiceChangeSet).length <= 2, 'a new connection does not get a new burst');
  again.channel.close();
});

t.test('a client that unsubscribes or subscribes again while its list is made gets one list, or none', async (t) => {
  const { change, connect, tick } = manyServices();
  const client = await connect();
  tick();
  for (const last of [SdkType.Unsubscribe, SdkType.Subscribe]) {
    change(); // the list has to be made again
    const before = listsOf(client).length;
    client.tell(SdkType.Subscribe, 0);
    for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
    client.tell(last, 0);
    for (let turn = 0; turn < 100; turn++) await settled();
    const lists = listsOf(client).slice(before);
    t.equal(lists.length, last === SdkType.Subscribe ? 1 : 0);
    for (const { services } of lists) t.equal(services.length, SERVICES + 1);
  }
  client.channel.close();
});
