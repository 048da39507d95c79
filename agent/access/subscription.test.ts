// Messages of a controller about the data model that are not as they should be.

import { create, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import t from 'tap';
import { VirtualClock } from '#lib/clock.ts';
import { silentLog } from '#lib/log.ts';
import { seededRandom } from '#lib/random.ts';
import {
  DataState_ChangeSetSchema,
  DataStateSchema,
  SubscribeToDataModelRequestSchema,
} from '#wire/gen/edge_control_pb.js';
import { EdgeControlHeader, EdgeControlType } from '#wire/gen/numbers.ts';
import { Message } from '#wire/message.ts';
import type { Controller } from '../control/controller.ts';
import type { ControlHandler, Controllers } from '../control/controllers.ts';
import { PoolFigures } from '../metrics/pool-figures.ts';
import { MetricsRegistry } from '../metrics/registry.ts';
import { DataModel } from './data-model.ts';
import { ModelSubscription } from './subscription.ts';

function room() {
  const handlers = new Map<number, ControlHandler>();
  const sent: Message[] = [];
  const controller = {
    id: 'ctrl',
    isConnected: true,
    send: (message: Message) => void sent.push(message),
    channel: { trySend: () => true },
  } as unknown as Controller;
  const connects: (() => void)[] = [];
  const controllers = {
    all: [controller],
    leader: controller,
    on: (type: number, handler: ControlHandler) => void handlers.set(type, handler),
    onConnect: (listener: () => void) => connects.push(listener),
    onDisconnect: () => undefined,
  };
  const clock = new VirtualClock();
  const metrics = new MetricsRegistry(clock, () => 0.5);
  const pool = new PoolFigures(metrics, clock, 'pool', 1);
  const model = new DataModel(silentLog);
  const subscription = new ModelSubscription({
    clock,
    log: silentLog,
    random: seededRandom(1),
    controllers: controllers as unknown as Controllers,
    model,
    onHistoryReset: () => undefined,
    working: (work) => pool.run(work),
  });
  for (const connect of connects) connect();
  const requests = () =>
    sent.map((message) => message.decode(SubscribeToDataModelRequestSchema)).map((each) => each.currentIndex);
  const id = () => sent.at(-1)?.decode(SubscribeToDataModelRequestSchema).subscriptionId ?? '';
  const send = (type: number, body: Uint8Array, subscriptionId = id()) =>
    handlers.get(type)?.(
      controller,
      new Message(type, [[EdgeControlHeader.SubscriptionId, Buffer.from(subscriptionId)]], Buffer.from(body)),
    );
  const state = (endIndex: bigint, subscriptionId?: string) =>
    send(EdgeControlType.DataState, toBinary(DataStateSchema, create(DataStateSchema, { endIndex })), subscriptionId);
  const change = (set: MessageInitShape<typeof DataState_ChangeSetSchema>, subscriptionId?: string) =>
    send(
      EdgeControlType.DataStateChangeSet,
      toBinary(DataState_ChangeSetSchema, create(DataState_ChangeSetSchema, set)),
      subscriptionId,
    );
  const busy = () => metrics.gauges.get('pool.busy_workers')?.();
  return { model, subscription, requests, id, send, state, change, busy };
}

t.test('changes out of order are not applied; the router asks for the missing ones', async (t) => {
  const { model, subscription, requests, id, state, change } = room();
  state(5n);
  const first = id();
  change({ index: 5n, previousIndex: 4n });
  change({ index: 3n, previousIndex: 2n });
  t.same([model.index, requests()], [5n, [0n]], 'repeated and old changes');
  change({ index: 9n, previousIndex: 7n });
  t.same([model.index, requests()], [5n, [0n, 5n]], 'a gap');
  change({ index: 6n, previousIndex: 5n }, first);
  state(20n, first);
  t.equal(model.index, 5n, 'messages of the earlier subscription');
  change({ index: 8n, previousIndex: 5n });
  t.same([model.index, requests()], [8n, [0n, 5n]]);
  subscription.close();
});

t.test('a malformed message changes nothing, and the router waits for the next one', async (t) => {
  const { model, subscription, send, state, busy } = room();
  state(5n);
  t.throws(() => send(EdgeControlType.DataState, Buffer.of(0xff)));
  t.throws(() => send(EdgeControlType.DataStateChangeSet, Buffer.of(0xff)));
  t.same([model.index, busy()], [5n, 0]);
  subscription.close();
});
