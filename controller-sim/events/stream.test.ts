// The subscriptions of a management channel: several requests, older names, and the types that `include` selects.

import t from 'tap';
import { silentLog } from '#lib/log/log.ts';
import { loadPatterns } from '#lib/text/linear-pattern.ts';
import { ChannelHeader, ManagementHeader, ManagementType } from '#wire/gen/numbers.ts';
import { Message } from '#wire/message.ts';
import { type Event, Events, type Namespace } from './events.ts';
import { EventStream } from './stream.ts';

await loadPatterns();

function open() {
  const events = new Events(silentLog);
  const received: Event[] = [];
  const headers: (string | undefined)[] = [];
  const answers: string[] = [];
  const closed: string[] = [];
  const send = (message: Message) => {
    const text = message.body.toString();
    if (message.contentType === ManagementType.Event) {
      received.push(JSON.parse(text) as Event);
      headers.push(message.string(ManagementHeader.EventType));
    } else answers.push(message.bool(ChannelHeader.ResultSuccess) ? 'done' : text);
  };
  const channel = { send, isWritable: () => closed.length === 0, close: (reason: string) => closed.push(reason) };
  const stream = new EventStream(events, channel);
  /** Returns the answer. */
  const ask = (...subscriptions: unknown[]) => {
    stream.request(new Message(ManagementType.StreamEvents, [], JSON.stringify({ subscriptions })));
    return answers.at(-1);
  };
  const emit = (namespace: Namespace, fields: object) =>
    events.emit({ namespace, event_src_id: 'ctrl', timestamp: '', ...fields });
  return { stream, received, headers, closed, ask, emit };
}

t.test('requests add subscriptions, up to a limit, and an invalid one changes nothing', async (t) => {
  const { stream, received, ask, emit } = open();
  t.equal(ask({ type: 'circuit' }), 'done');
  t.equal(ask({ type: 'link' }, { type: 'metrics', options: { metricFilter: '^a' } }), 'done');
  t.match(ask({ type: 'router' }, { type: 'metrics', options: { metricFilter: '(' } }), /missing closing \)/);
  t.equal(ask({ type: 'metrics', options: { metricFilter: '^b' } }), 'done');
  for (const namespace of ['circuit', 'link', 'router'] as const) emit(namespace, {});
  for (const metric of ['a', 'b', 'c']) emit('metrics', { source_id: 'r', metric, metrics: { value: 1 } });
  t.same(
    received.map(({ namespace, metric }) => metric ?? namespace),
    ['circuit', 'link', 'a', 'b'],
  );
  t.match(ask(...Array.from({ length: 97 }, () => ({ type: 'circuit' }))), /at most 100 subscriptions/);
  t.match(
    ask({ type: 'link' }, { type: 'circuits' }),
    /^the event type "circuits" is unknown\. .*circuit.* Did you mean/,
  );
  t.match(ask({}), /^the event type "" is unknown/);
  stream.close();
  emit('circuit', {});
  t.equal(received.length, 4);
});

t.test('options of counts are a duration and a truth value', async (t) => {
  const { ask } = open();
  const invalid: [options: object, message: RegExp][] = [
    [{ interval: 5 }, /^invalid type number for edge.entityCounts interval/],
    [{ interval: '5' }, /missing unit in duration "5"/],
    [{ propagateAlways: 1 }, /^invalid value for propagateAlways, must be boolean or string/],
  ];
  for (const [options, message] of invalid) t.match(ask({ type: 'entityCount', options }), message);
  const valid = [{}, { interval: '1ns' }, { interval: '1h', propagateAlways: 'TRUE' }, { propagateAlways: false }];
  for (const options of valid) t.equal(ask({ type: 'edge.entityCounts', options }), 'done');
});

t.test('events for an older name have it as their namespace', async (t) => {
  const { received, headers, ask, emit } = open();
  ask({ type: 'fabric.circuits' }, { type: 'services' }, { type: 'edge.authentications' }, { type: 'fabric.usage' });
  for (const namespace of ['circuit', 'service', 'authentication'] as const) emit(namespace, {});
  emit('usage', { version: 2 });
  t.same(
    received.map(({ namespace }) => namespace),
    ['fabric.circuits', 'service.events', 'authentication', 'fabric.usage'],
  );
  ask({ type: 'usage', options: { version: 3 } }, { type: 'entityChange' });
  emit('usage', { version: 3 });
  emit('entityChange', {});
  t.same(headers, ['circuit', 'service', 'authentication', 'usage', 'usage.v3', 'entity.change']);
});

t.test('include selects types of events', async (t) => {
  const { received, ask, emit } = open();
  ask(
    { type: 'circuit', options: { include: ['created', 'failed'] } },
    { type: 'authentication', options: { include: 'fail' } },
    { type: 'apiSession', options: { include: ['deleted', 'created'] } },
    { type: 'session', options: { include: [] } },
  );
  for (const event_type of ['created', 'pathUpdated', 'deleted', 'failed']) emit('circuit', { event_type });
  for (const event_type of ['success', 'fail']) emit('authentication', { event_type });
  for (const event_type of ['created', 'refreshed']) emit('apiSession', { event_type });
  emit('session', { event_type: 'deleted' });
  t.same(
    received.map(({ namespace, event_type }) => `${namespace} ${String(event_type)}`),
    [
      ...['circuit created', 'circuit failed', 'authentication fail'],
      ...['apiSession created', 'apiSession refreshed', 'session deleted'],
    ],
  );
  const rejected: [type: string, include: unknown, message: RegExp][] = [
    [
      'circuit',
      ['made up'],
      /^circuit: include has the unknown type "made up"; use created, pathUpdated, deleted, failed$/,
    ],
    ['session', 'refreshed', /^session: include has the unknown type "refreshed"; use created, deleted$/],
    ['authentication', 1, /^authentication: include must be a list of success, fail$/],
    ['entityChange', 'services', /^entityChange: include must be a list of .*services/],
    ['entityChange', [], /^entityChange: include is empty/],
    ['entityChange', ['edge-routers'], /^entityChange: include has the unknown type "edge-routers"; use .*routers/],
  ];
  for (const [type, include, message] of rejected) t.match(ask({ type, options: { include } }), message);
});

t.test('include selects changed entities, and the commits of their changes', async (t) => {
  const { received, ask, emit } = open();
  ask({ type: 'entityChange', options: { include: ['services', 'edgeRouterPolicies'] } });
  const types = ['services', 'identities', 'edgeRouterPolicies'];
  for (const entityType of types) emit('entityChange', { eventId: entityType, eventType: 'updated', entityType });
  for (const eventId of types) emit('entityChange', { eventId, eventType: 'committed' });
  t.same(
    received.map(({ eventId, eventType }) => `${String(eventId)} ${String(eventType)}`),
    ['services updated', 'edgeRouterPolicies updated', 'services committed', 'edgeRouterPolicies committed'],
  );
});

t.test('a hostile expression is matched like any other, and a channel has few of them', async (t) => {
  const { received, closed, ask, emit } = open();
  const filters = (count: number) =>
    Array.from({ length: count }, () => ({ type: 'metrics', options: { metricFilter: '^(a+)+$' } }));
  t.match(ask(...filters(11)), /at most 10 subscriptions with filters/);
  t.equal(ask({ type: 'metrics', options: { metricFilter: '' } }, ...filters(10)), 'done');
  emit('metrics', { source_id: 'r', metric: 'aaa', metrics: { value: 1 } });
  t.equal(received.length, 11);
  emit('metrics', { source_id: 'r', metric: `${'a'.repeat(60)}!`, metrics: { value: 1 } });
  t.same(closed, []);
  t.equal(received.length, 12, 'only the subscription without a filter wants it');
});

t.test('an event for many subscriptions is encoded once, and not for clients that do not read', async (t) => {
  const { received, closed, ask, emit } = open();
  t.equal(ask(...Array.from({ length: 100 }, () => ({ type: 'circuit' }))), 'done');
  let encoded = 0;
  const counted = { toJSON: () => ++encoded };
  emit('circuit', { counted });
  t.equal(received.length, 100);
  t.equal(encoded, 1);
  closed.push('it does not read');
  emit('circuit', { counted });
  t.equal(encoded, 1);
});
