// The rules of links as pure functions: states, keys, duplicates.

import t from 'tap';
import { InvariantError } from '#lib/errors.ts';
import { silentLog } from '#lib/log/log.ts';
import { VirtualClock } from '#lib/time/clock.ts';
import { LinkStateUpdateSchema, RouterLinksSchema } from '#wire/gen/control_pb.js';
import { ControlType } from '#wire/gen/numbers.ts';
import type { Message } from '#wire/message.ts';
import { MetricsRegistry } from '../metrics/registry.ts';
import type { Link } from './link.ts';
import { judgeDuplicate, linkKey } from './link-key.ts';
import { LinkMetrics } from './link-metrics.ts';
import { LinkReporter } from './link-reporter.ts';
import { canDial, LINK_TRANSITIONS, type LinkEvent, type LinkState, nextLinkState } from './link-states.ts';

t.test('a link follows the table of its states', async (t) => {
  const walk = (events: LinkEvent[]) =>
    events.reduce<LinkState>((state, event) => nextLinkState(state, event), 'pending');
  const table: [LinkEvent[], LinkState][] = [
    [['dial', 'linkUp'], 'established'],
    [['dial', 'dialError', 'dial', 'linkUp'], 'established'],
    [['dial', 'queueFull', 'dial', 'linkUp', 'linkDown'], 'linkFailed'],
    [['linkUp'], 'established'],
    [['dial', 'linkUp', 'linkDown', 'dial', 'linkUp'], 'established'],
    [['dial', 'removed', 'linkUp'], 'destRemoved'],
  ];
  for (const [events, state] of table) t.equal(walk(events), state, events.join(', '));
});

t.test('transitions that the table lacks are bugs', async (t) => {
  const events: LinkEvent[] = ['dial', 'queueFull', 'dialError', 'linkUp', 'linkDown', 'removed'];
  for (const state of Object.keys(LINK_TRANSITIONS) as LinkState[]) {
    for (const event of events) {
      if (LINK_TRANSITIONS[state][event] === undefined)
        t.throws(() => nextLinkState(state, event), InvariantError, `${state} ${event}`);
    }
  }
  t.notOk(canDial('dialing'), 'never two dials of one link');
  t.notOk(canDial('established'));
  t.notOk(canDial('destRemoved'));
});

t.test('keys identify duplicates', async (t) => {
  const base = { protocol: 'tls', routerId: 'peer' };
  t.equal(linkKey({ ...base, dialerBinding: '', listenerBinding: '' }), 'default->tls:peer->default');
  t.equal(linkKey({ ...base, dialerBinding: 'eth0', listenerBinding: 'eth1' }), 'eth0->tls:peer->eth1');
});

t.test('the smaller id survives among duplicates; a redial replaces; repeated duplicates win', async (t) => {
  t.equal(judgeDuplicate(undefined, { id: 'b' }), 'accept');
  t.equal(judgeDuplicate({ id: 'a', rejectedDuplicates: 0 }, { id: 'b' }), 'reject');
  t.equal(judgeDuplicate({ id: 'b', rejectedDuplicates: 0 }, { id: 'a' }), 'replace');
  t.equal(judgeDuplicate({ id: 'a', rejectedDuplicates: 0 }, { id: 'a' }), 'replace');
  t.equal(judgeDuplicate({ id: 'a', rejectedDuplicates: 6 }, { id: 'b' }), 'replace');
});

t.test('a silent link costs more than any other until it answers again', async (t) => {
  const registry = new MetricsRegistry(new VirtualClock(), () => 0.5);
  const metrics = new LinkMetrics(registry, 'l1');
  const mean = () => registry.histogram('link.l1.latency').snapshot().mean;
  for (let count = 0; count < 200; count++) metrics.latency(1e6);
  t.equal(mean(), 1e6);
  metrics.silent();
  metrics.silent();
  t.ok(mean() > 8e12);
  metrics.latency(2e6);
  t.equal(mean(), 2e6);
});

t.test('a reconnected controller receives all dialed links and their changed connections', async (t) => {
  const sent: Message[] = [];
  const controller = { id: 'c', isConnected: true, send: (message: Message) => void sent.push(message) };
  const reporter = new LinkReporter({
    clock: new VirtualClock(),
    log: silentLog,
    controllers: { all: [controller] },
    faults: { mark: () => undefined },
  });
  const link = (id: string, dialed: boolean, connectionsIteration: number) =>
    ({ id, dialed, connectionsIteration, iteration: 2, connections: [] }) as unknown as Link;
  const links = [link('fresh', true, 1), link('changed', true, 3), link('accepted', false, 5)];
  reporter.refresh(controller, () => links);
  await new Promise((resolve) => setImmediate(resolve));
  t.same(
    sent.map(({ contentType }) => contentType),
    [ControlType.RouterLinks, ControlType.LinkState],
  );
  const all = sent[0]?.decode(RouterLinksSchema);
  t.ok(all?.fullRefresh);
  t.same(
    all?.links.map(({ id }) => id),
    ['fresh', 'changed'],
  );
  t.match(sent[1]?.decode(LinkStateUpdateSchema), {
    linkId: 'changed',
    linkIteration: 2,
    connState: { stateIteration: 3 },
  });
});

t.test('a report that is retried has the state of that time', async (t) => {
  const clock = new VirtualClock();
  const sent: Message[] = [];
  let isFull = true;
  const send = (message: Message) => {
    if (isFull) throw new Error('the queue is full');
    sent.push(message);
  };
  const controllers = { all: [{ id: 'c', isConnected: true, send }] };
  const reporter = new LinkReporter({ clock, log: silentLog, controllers, faults: { mark: () => undefined } });
  const link = (id: string) =>
    ({ id, dialed: true, isClosed: false, connectionsIteration: 1, iteration: 1, connections: [] }) as unknown as Link;
  const [lost, other] = [link('lost'), link('other')];
  let links = [lost];
  for (const controller of controllers.all) reporter.refresh(controller, () => links);
  reporter.established(lost);
  await new Promise((resolve) => setImmediate(resolve));
  isFull = false;
  Object.assign(lost, { isClosed: true });
  links = [other];
  reporter.lost(lost);
  await clock.advance(5_000);
  t.same(
    sent.map(({ contentType }) => contentType),
    [ControlType.Fault, ControlType.RouterLinks],
    'the lost link is not reported as new',
  );
  t.match(sent[1]?.decode(RouterLinksSchema), { fullRefresh: true, links: [{ id: 'other' }] });
});
