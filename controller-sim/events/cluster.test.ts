// A member that does not follow the changes of others says so in events.

import t from 'tap';
import { IdSource } from '#lib/ids.ts';
import { silentLog } from '#lib/log/log.ts';
import { VirtualClock } from '#lib/time/clock.ts';
import { memberInfo } from '../../test/support/rooms/members.ts';
import { Cluster } from '../cluster/cluster.ts';
import { State } from '../state/state.ts';
import { SharedMemory } from '../state/store/shared-memory.ts';
import { ClusterEvents } from './cluster.ts';
import { type Event, Events } from './events.ts';

t.test('a member reports that it cannot change data, with the reason, and once more that it can again', async (t) => {
  const clock = new VirtualClock();
  const store = new SharedMemory().open();
  const state = await State.open({ store, clock, ids: new IdSource() });
  const cluster = await Cluster.join({ registry: store.registry, clock, log: silentLog }, memberInfo('a'));
  const events = new Events(silentLog);
  const clusterEvents = new ClusterEvents({
    cluster,
    events,
    state,
    clock,
    controllerId: 'a',
    apiAddresses: () => ({}),
  });
  const seen: Event[] = [];
  events.subscribe((event) => seen.push(event), ['cluster']);
  const { read } = store;
  for (const problem of ['the first problem', 'another problem']) {
    store.read = () => Promise.reject(new Error(problem));
    await state.others?.catchUp().catch(() => undefined);
    store.appended();
    await new Promise(setImmediate);
    await new Promise(setImmediate);
  }
  store.read = read;
  store.appended();
  while (state.others?.problem !== undefined) await new Promise(setImmediate);
  t.match(seen, [
    { namespace: 'cluster', eventType: 'state.ro', index: 0, reason: /the first problem/ },
    { eventType: 'state.rw', index: 0 },
  ]);
  clusterEvents.close();
  await cluster.close();
  await state.close();
});
