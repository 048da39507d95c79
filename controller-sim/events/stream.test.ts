// The subscriptions of a management channel: several requests, older names, and the types that `include` selects.

import t from 'tap';
import { silentLog } from '#lib/log.ts';
import { ChannelHeader, ManagementHeader, ManagementType } from '#wire/gen/numbers.ts';
import { Message } from '#wire/message.ts';
import { type Event, Events, type Namespace } from './events.ts';
import { EventStream } from './stream.ts';

function open() {
  const events = new Events(silentLog);
  const received: Event[] = [];
  const headers: (string | undefined)[] = [];
  const answers: string[] = [];
  const stream = new EventStream(events, (message) => {
    const text = message.body.toString();
    if (message.contentType === ManagementType.Event) {
      received.push(JSON.parse(text) as Event);
      headers.push(message.string(ManagementHeader.EventType));
    } else answers.push(message.bool(ChannelHeader.ResultSuccess) ? 'done' : text);
  });
  /** Returns the answer. */
  const ask = (...subscriptions: unknown[]) => {
    stream.request(new Message(ManagementType.StreamEvents, [], JSON.stringify({ subscriptions })));
    return answers.at(-1);
  };
  const emit = (namespace: Namespace, fields: object) =>
    events.emit({ namespace, event_src_id: 'ctrl', timestamp: '', ...fields });
  return { stream, received, headers, ask, emit };
}

t.test('requests add subscriptions, up to a limit, and an invalid one changes nothing', async (t) => {
  const { stream, received, ask, emit } = open();
  t.equal(ask({ type: 'circuit' }), 'done');
  t.equal(ask({ type: 'link' }, { type: 'metrics', options: { metricFilter: '^a' } }), 'done');
  t.match(ask({ type: 'router' }, { type: 'metrics', options: { metricFilter: '(' } }), /Unterminated group/);
  t.equal(ask({ type: 'metrics', options: { metricFilter: '^b' } }), 'done');
  for (const namespace of ['circuit', 'link', 'router'] as const) emit(namespace, {});
  for (const metric of ['a', 'b', 'c']) emit('metrics', { source_id: 'r', metric, metrics: { value: 1 } });
  t.same(
    received.map(({ namespace, metric }) => metric ?? namespace),
    ['circuit', 'link', 'a', 'b'],
  );
  t.match(ask(...Array.from({ length: 97 }, () => ({ type: 'circuit' }))), /at most 100 subscriptions/);
  t.equal(ask(...Array.from({ length: 96 }, () => ({ type: 'made up' }))), 'done', 'unknown types are silent');
  stream.close();
  emit('circuit', {});
  t.equal(received.length, 4);
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
