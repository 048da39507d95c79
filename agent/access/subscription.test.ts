// Messages of a controller about the data model that are not as they should be.

import { type MessageInitShape, create as message, toBinary } from '@bufbuild/protobuf';
import t from 'tap';
import { silentLog } from '#lib/log/log.ts';
import { seededRandom } from '#lib/random.ts';
import { VirtualClock } from '#lib/time/clock.ts';
import {
  DataState_Action,
  DataState_ChangeSetSchema,
  DataStateSchema,
  SubscribeToDataModelRequestSchema,
} from '#wire/gen/edge_control_pb.js';
import { EdgeControlHeader, EdgeControlType } from '#wire/gen/numbers.ts';
import { Message } from '#wire/message.ts';
import { PoolFigures } from '../metrics/pool-figures.ts';
import { MetricsRegistry } from '../metrics/registry.ts';
import { DataModel } from './data-model.ts';
import { type ModelSource, ModelSubscription } from './subscription.ts';

type Handler = (controller: ModelSource, message: Message) => void;

function room({ others = [] }: { others?: string[] } = {}) {
  const clock = new VirtualClock();
  const handlers = new Map<number, Handler>();
  const sent: Message[] = [];
  const sentAt: number[] = [];
  const asked: string[] = [];
  const silences: Record<string, number> = {};
  const create = (id: string): ModelSource => ({
    id,
    isConnected: true,
    get isResponsive() {
      return silences[id] === undefined;
    },
    send: (request: Message) => {
      asked.push(id);
      sentAt.push(clock.monotonic());
      sent.push(request);
    },
    channel: {
      trySend: () => true,
      get unanswered() {
        return silences[id] ?? 0;
      },
    },
  });
  const all = ['ctrl', ...others].map((id) => create(id));
  const [controller] = all as [ModelSource];
  const connects: (() => void)[] = [];
  const controllers = {
    all,
    get best(): ModelSource {
      return all.find((each) => each.isResponsive) ?? controller;
    },
    get leader(): ModelSource {
      return controllers.best;
    },
    on: (type: number, handler: Handler) => void handlers.set(type, handler),
    onConnect: (listener: () => void) => void connects.push(listener),
    onDisconnect: () => undefined,
  };
  const metrics = new MetricsRegistry(clock, () => 0.5);
  const pool = new PoolFigures(metrics, clock, 'pool', 1);
  const model = new DataModel(silentLog);
  const subscription = new ModelSubscription({
    clock,
    log: silentLog,
    random: seededRandom(1),
    controllers,
    model,
    onHistoryReset: () => undefined,
    working: (work) => pool.run(work),
  });
  for (const connect of connects) connect();
  const requests = () =>
    sent.map((each) => each.decode(SubscribeToDataModelRequestSchema)).map((each) => each.currentIndex);
  /** The requests so far, with the time until which the controller keeps each. */
  const subscriptions = () =>
    sent.map((each, index) => {
      const { renew, subscriptionId, subscriptionDurationSeconds } = each.decode(SubscribeToDataModelRequestSchema);
      const [at = 0, next] = sentAt.slice(index);
      return { renew, id: subscriptionId, isInTime: (next ?? at) < at + subscriptionDurationSeconds * 1_000 };
    });
  const id = () => sent.at(-1)?.decode(SubscribeToDataModelRequestSchema).subscriptionId ?? '';
  const send = (type: number, body: Uint8Array, subscriptionId = id()) =>
    handlers.get(type)?.(
      all.find((each) => each.id === asked.at(-1)) ?? controller,
      new Message(type, [[EdgeControlHeader.SubscriptionId, Buffer.from(subscriptionId)]], Buffer.from(body)),
    );
  const state = (endIndex: bigint, subscriptionId?: string) =>
    send(EdgeControlType.DataState, toBinary(DataStateSchema, message(DataStateSchema, { endIndex })), subscriptionId);
  const change = (set: MessageInitShape<typeof DataState_ChangeSetSchema>, subscriptionId?: string) =>
    send(
      EdgeControlType.DataStateChangeSet,
      toBinary(DataState_ChangeSetSchema, message(DataState_ChangeSetSchema, set)),
      subscriptionId,
    );
  const busy = () => metrics.gauges.get('pool.busy_workers')?.();
  return { clock, model, subscription, requests, asked, subscriptions, silences, id, send, state, change, busy };
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

t.test('a malformed message changes nothing, and the router asks again later', async (t) => {
  const { clock, requests, model, subscription, send, state, busy } = room();
  state(5n);
  t.throws(() => send(EdgeControlType.DataState, Buffer.of(0xff)));
  t.throws(() => send(EdgeControlType.DataStateChangeSet, Buffer.of(0xff)));
  t.same([model.index, busy()], [5n, 0]);
  t.same(requests(), [0n], 'not at once');
  await clock.advance(30_000);
  t.same(requests(), [0n, 5n]);
  t.throws(() => send(EdgeControlType.DataStateChangeSet, Buffer.of(0xff)));
  await clock.advance(30_000);
  t.same(requests(), [0n, 5n], 'after twice the time');
  await clock.advance(30_000);
  t.same(requests(), [0n, 5n, 5n]);
  subscription.close();
});

t.test('a controller that does not send the model is asked again, and its late answer accepted', async (t) => {
  const { clock, model, subscription, requests, id, state } = room();
  const first = id();
  await clock.advance(30_000);
  t.same(requests(), [0n, 0n]);
  state(5n, first);
  t.equal(model.index, 5n);
  await clock.advance(180_000);
  t.same(requests(), [0n, 0n], 'a controller without changes is silent');
  subscription.close();
});

t.test('a controller that does not send the model is replaced by another one', async (t) => {
  const { clock, model, subscription, asked, id, state } = room({ others: ['other'] });
  const first = id();
  await clock.advance(30_000);
  t.same(asked, ['ctrl', 'other']);
  state(9n, first);
  t.equal(model.index, 0n, 'an answer to the earlier subscription');
  await clock.advance(60_000);
  t.same(asked, ['ctrl', 'other', 'ctrl']);
  state(5n);
  await clock.advance(180_000);
  t.same([model.index, asked.length], [5n, 3]);
  subscription.close();
});

t.test('missing changes that do not arrive are requested again', async (t) => {
  const { clock, subscription, requests, state, change } = room();
  state(5n);
  change({ index: 9n, previousIndex: 7n });
  await clock.advance(30_000);
  t.same(requests(), [0n, 5n, 5n]);
  change({ index: 8n, previousIndex: 5n });
  await clock.advance(180_000);
  t.same(requests(), [0n, 5n, 5n]);
  subscription.close();
});

t.test('a controller that no longer answers heartbeats is left for one that does', async (t) => {
  const { clock, subscription, asked, silences, state } = room({ others: ['other'] });
  state(5n);
  silences.ctrl = 20_000;
  await clock.advance(30_000);
  t.same(asked, ['ctrl']);
  silences.ctrl = 31_000;
  await clock.advance(30_000);
  t.same(asked, ['ctrl', 'other']);
  silences.other = 31_000;
  await clock.advance(30_000);
  t.same(asked, ['ctrl', 'other'], 'none is better');
  subscription.close();
});

t.test('the model does not keep the memory of the messages that it comes from', async (t) => {
  const { model, subscription, send } = room();
  const bytes = Buffer.from('text');
  const of = (name: string) => [
    { action: DataState_Action.CREATE, model: { case: 'identity', value: { id: name, appDataJson: bytes } } as const },
    { action: DataState_Action.CREATE, model: { case: 'publicKey', value: { kid: name, data: bytes } } as const },
  ];
  const state = toBinary(DataStateSchema, message(DataStateSchema, { endIndex: 1n, events: of('state') }));
  const set = { index: 2n, previousIndex: 1n, changes: of('change') };
  send(EdgeControlType.DataState, state);
  send(
    EdgeControlType.DataStateChangeSet,
    toBinary(DataState_ChangeSetSchema, message(DataState_ChangeSetSchema, set)),
  );
  const kept = [
    ...[...model.identities.values()].map(({ appDataJson }) => appDataJson),
    ...[...model.publicKeys.values()].map(({ data }) => data),
  ];
  t.same(
    kept.map(String),
    [bytes, bytes, bytes, bytes].map((each) => String(new Uint8Array(each))),
  );
  t.ok(
    kept.every(({ buffer }) => buffer.byteLength === 2 * bytes.length),
    'only the bytes of both entities',
  );
  const identity = [0x0a, 0x01, 0x78, 0xa0, 0x06, 0x01]; // the id x, and an unknown field
  const event = [0x52, identity.length, ...identity];
  send(EdgeControlType.DataState, Buffer.from([0x0a, event.length, ...event]));
  t.equal(model.identities.get('x')?.$unknown, undefined);
  subscription.close();
});

t.test('a subscription is renewed before the controller ends it', async (t) => {
  const { clock, subscription, subscriptions, id, state } = room();
  state(5n);
  await clock.advance(30 * 60_000);
  const [first, ...renewals] = subscriptions();
  t.match(first, { renew: false, isInTime: true });
  t.ok(renewals.length >= 5, `${renewals.length} renewals`);
  for (const renewal of renewals) t.same(renewal, { renew: true, id: id(), isInTime: true });
  subscription.close();
});
