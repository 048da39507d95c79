// The effects of links that lost against a duplicate, ended, or belong to a router without a controller.

import t from 'tap';
import { createLog, silentLog } from '#lib/log/log.ts';
import { IoContext } from '#lib/net/io-context.ts';
import { BufferBudget } from '#lib/queue/buffer-budget.ts';
import { TaskQueue } from '#lib/queue/task-queue.ts';
import { seededRandom } from '#lib/random.ts';
import { VirtualClock } from '#lib/time/clock.ts';
import { Payload } from '#wire/xgress-frames.ts';
import { CLOSED_PORT } from '../../test/support/networks/fixed-ports.ts';
import { PayloadOrigin } from '../forwarder/destination.ts';
import { Forwarder } from '../forwarder/forwarder.ts';
import { MetricsRegistry } from '../metrics/registry.ts';
import type { LinkInit } from './link.ts';
import { type LinkDialerSettings, linkChannel } from './link-dialer.ts';
import { LinkRegistry } from './link-registry.ts';
import { LinkReporter } from './link-reporter.ts';
import { WantedLinks } from './wanted-links.ts';

const MINUTE = 60_000;

function rooms(dialers: readonly LinkDialerSettings[] = [], log = silentLog) {
  const clock = new VirtualClock();
  const random = seededRandom(1);
  const metrics = new MetricsRegistry(clock, () => 0.5);
  const forwarder = new Forwarder({
    clock,
    log,
    routerId: 'own',
    foreign: metrics.meter('forwarder.foreign_payloads'),
  });
  const reporter = new LinkReporter({ clock, log, controllers: { all: [] }, faults: metrics.meter('faults.link') });
  const registry = new LinkRegistry({ clock, log, forwarder, metrics, reporter, onUnroutable: () => undefined });
  const heartbeat = { sendInterval: 10_000, checkInterval: 1_000, closeUnresponsiveTimeout: MINUTE };
  const settings = { payloadQueueLength: 8, payloadBudget: new BufferBudget(), ackQueueLength: 8, heartbeat };
  const dialQueue = new TaskQueue({ name: 'pool.link.dialer', length: 100, workers: 1, clock });
  const { promise: forever, resolve: endForever } = Promise.withResolvers<void>();
  dialQueue.add(() => forever).catch(() => undefined); // no dial begins before `startDials`
  const identity = { id: 'own', clientContext: () => ({}) };
  const dial = { io: new IoContext({ clock }), log, random, identity, settings };
  const wanted = new WantedLinks({ clock, log, random, registry, dial, dialQueue }, dialers);
  /** A link that the peer dialed. */
  const accepted = (id: string, { peerId = 'peer', key = 'key', iteration = 1 } = {}): LinkInit => {
    const init = { linkId: id, peerId, connectionId: id, grouped: false, writeTimeout: 0 };
    const channel = linkChannel({ io: new IoContext({ clock }), log, settings }, init);
    const address = { peerVersion: 'v2.0.0', iteration, dialed: false, protocol: 'tls', address: 'tls:here:1' };
    return { id, key, peerId, ...address, payloads: channel, acknowledgements: channel };
  };
  /** Names of the metrics of links. */
  const named = () =>
    [metrics.meters, metrics.histograms].flatMap((table) =>
      [...table.keys()].filter((name) => name.startsWith('link.')),
    );
  const close = async () => {
    wanted.close();
    endForever();
    await dialQueue.close();
    await registry.close();
  };
  /** Lets dials begin, and resolves when all of them are over. */
  const startDials = async () => {
    endForever();
    while (dialQueue.busy + dialQueue.depth > 0) await settled();
  };
  return { clock, forwarder, registry, wanted, accepted, named, startDials, close };
}

function dialerOf(...groups: string[]): LinkDialerSettings {
  const backoff = { min: 5_000, max: 60_000, factor: 2, jitter: 0 };
  return {
    groups,
    binding: '',
    localAddress: undefined,
    split: true,
    maxDefaultConnections: 1,
    maxAckConnections: 0,
    startupDelay: 0,
    connectTimeout: 1_000,
    writeTimeout: 0,
    healthyBackoff: backoff,
    unhealthyBackoff: backoff,
  };
}

async function settled(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

t.test('ended links leave no metrics, whether they were established, replaced or rejected', async (t) => {
  const { clock, registry, accepted, named, close } = rooms();
  registry.register(accepted('m'));
  registry.register(accepted('z')); // rejected: the smaller id stays
  registry.register(accepted('a')); // replaces m
  registry.register(accepted('ab', { key: 'other' }));
  registry.register(accepted('a.b', { key: 'with a dot' }));
  await clock.advance(1_000);
  t.match(named(), ['link.dropped_msgs:m']);
  await clock.advance(2 * MINUTE);
  await settled();
  t.notOk(
    named().some((name) => /[.:][mz]\b/.test(name)),
    'the replaced and the rejected link are over',
  );
  registry.faulted('a', 0);
  await settled();
  t.ok(named().every((name) => /[.:]a\.?b\b/.test(name)));
  for (const name of ['link.dropped_msgs:ab', 'link.a.b.latency', 'link.a.b.tx.msgsize'])
    t.ok(named().includes(name), 'metrics of links with similar ids stay');
  for (const id of ['ab', 'a.b']) registry.faulted(id, 0);
  await settled();
  t.same(named(), []);
  await close();
});

t.test('the counters of a key survive its links, until the router is deleted', async (t) => {
  const { clock, registry, accepted, close } = rooms();
  const sent = () =>
    [...registry.totals.values()].map(({ key, total }) => [key, total.counts['link.dropped_fwd_msgs']]);
  const drop = (id: string) => {
    const link = registry.register(accepted(id));
    link?.channels[0]?.close(); // a closed channel accepts nothing: the payload is dropped
    link?.acceptPayload(Payload.create('circuit', 1, 0, Buffer.alloc(1)), PayloadOrigin.Forwarded);
  };
  drop('m');
  await settled();
  drop('z');
  await clock.advance(1_000);
  await settled();
  t.same(sent(), [['key', 2]]);
  registry.closePeer('peer');
  await settled();
  t.same(sent(), [], 'the router was deleted');
  await close();
});

t.test('a redialed link keeps its metrics and its circuits', async (t) => {
  const { registry, forwarder, accepted, named, close } = rooms();
  const lost: string[] = [];
  forwarder.onLinkLost((linkId) => lost.push(linkId));
  registry.register(accepted('a'));
  const link = registry.register(accepted('a'));
  await settled();
  t.ok(named().includes('link.a.latency'));
  t.equal(forwarder.destination('a'), link);
  t.same(lost, [], 'no controller is asked about its circuits');
  await close();
});

t.test('a router that loses its controller keeps the links that it has dialed', async (t) => {
  const { clock, registry, wanted, accepted, close } = rooms();
  wanted.peersChanged([{ id: 'peer', version: 'v2.0.0', state: 'healthy', listeners: [] }]);
  const link = registry.register(accepted('a'));
  wanted.peersChanged([{ id: 'peer', version: '', state: 'unhealthy', listeners: [] }]);
  await clock.advance(3 * MINUTE);
  t.equal(link?.isClosed, false);
  t.same(wanted.inspect(), [], 'it is forgotten, because there is nothing to dial');
  wanted.peersChanged([{ id: 'peer', version: '', state: 'removed', listeners: [] }]);
  t.equal(link?.isClosed, true, 'a deleted router loses them');
  await close();
});

t.test('a peer that closes each link at once is dialed less and less often', async (t) => {
  const { clock, registry, wanted, accepted, close } = rooms([dialerOf('default')]);
  const listener = { address: 'tls:peer:1', protocol: 'tls', groups: [], localBinding: '' };
  wanted.peersChanged([{ id: 'peer', version: 'v2.0.0', state: 'healthy', listeners: [listener] }]);
  const [{ key, attempts: first } = { key: '', attempts: 0 }] = wanted.describe();
  const attempts = () => (wanted.describe()[0]?.attempts ?? 0) - first;
  let links = 0;
  const loseAfter = async (life: number) => {
    const link = registry.register(accepted(`link${links++}`, { key }));
    await clock.advance(life);
    link?.close();
    await settled();
  };
  await loseAfter(100);
  t.equal(attempts(), 1, 'the first loss is redialed at once');
  for (const wait of [5_000, 10_000, 20_000]) {
    await loseAfter(100);
    const before = attempts();
    await clock.advance(wait - 1);
    t.equal(attempts(), before, `not within ${wait} ms`);
    await clock.advance(2);
    t.equal(attempts(), before + 1);
  }
  await loseAfter(20_000);
  t.equal(attempts(), 5, 'a link that lasted is redialed at once');
  await loseAfter(100);
  t.equal(attempts(), 6, 'the first loss is redialed at once again');
  await loseAfter(100);
  await clock.advance(5_000 - 1);
  t.equal(attempts(), 6);
  await clock.advance(2);
  t.equal(attempts(), 7, 'and the waits grow from the beginning');
  await close();
});

t.test('a peer with two listeners of one key keeps its link until the address of the link is gone', async (t) => {
  const { registry, wanted, accepted, close } = rooms([dialerOf('inside', 'outside')]);
  const listener = (group: string) => ({
    address: `tls:${group}:1`,
    protocol: 'tls',
    groups: [group],
    localBinding: '',
  });
  const change = (...groups: string[]) =>
    wanted.peersChanged([{ id: 'peer', version: 'v2.0.0', state: 'healthy', listeners: groups.map(listener) }]);
  const address = () => wanted.describe().map((each) => each.address);
  change('inside', 'outside');
  t.same(address(), ['tls:inside:1']);
  const { key = '' } = wanted.describe()[0] ?? {};
  const link = registry.register({ ...accepted('a', { key }), dialed: true });
  change('inside', 'outside');
  change('outside', 'inside');
  await settled();
  t.equal(link?.isClosed, false, 'nothing has changed');
  t.same(address(), ['tls:inside:1']);
  change('outside');
  await settled();
  t.equal(link?.isClosed, true, 'the address of the link is gone');
  t.same(address(), ['tls:outside:1']);
  await close();
});

t.test(
  'a dial that fails after links of the peer came up and were lost does not disturb the planned one',
  async (t) => {
    const lines: string[] = [];
    const log = createLog({ write: (line) => lines.push(line) });
    const { clock, registry, wanted, accepted, startDials, close } = rooms([dialerOf('default')], log);
    const listener = { address: `tls:127.0.0.1:${CLOSED_PORT}`, protocol: 'tls', groups: [], localBinding: '' };
    wanted.peersChanged([{ id: 'peer', version: 'v2.0.0', state: 'healthy', listeners: [listener] }]);
    const { key = '' } = wanted.describe()[0] ?? {};
    for (const id of ['a', 'b']) {
      registry.register(accepted(id, { key }))?.close();
      await settled();
    }
    const planned = wanted.describe();
    t.match(planned, [{ state: 'linkFailed', attempts: 2, nextDial: clock.now() + 5_000 }]);
    await startDials();
    t.same(wanted.describe(), planned);
    t.notOk(lines.some((line) => line.includes('background task failed')));
    await clock.advance(5_000);
    await startDials();
    t.match(wanted.describe(), [{ state: 'dialFailed', attempts: 3 }]);
    await close();
  },
);

t.test('an earlier dial of a link does not replace a later one', async (t) => {
  const { registry, accepted, close } = rooms();
  const second = registry.register(accepted('l', { iteration: 2 }));
  const first = accepted('l', { iteration: 1 });
  t.equal(registry.register(first), undefined);
  t.ok(first.payloads.isClosed);
  t.same(registry.links, [second]);
  t.ok(registry.register(accepted('l', { iteration: 2 })), 'a repeated iteration replaces it');
  await close();
});

t.test('a deleted router keeps no link, not even one that lost against a duplicate', async (t) => {
  const { registry, forwarder, accepted, close } = rooms();
  const inits = [accepted('m'), accepted('z'), accepted('a'), accepted('other', { peerId: 'other', key: 'other' })];
  for (const init of inits) registry.register(init); // z is rejected, a replaces m
  t.same(
    inits.map(({ payloads }) => payloads.isClosed),
    [false, false, false, false],
  );
  registry.closePeer('peer');
  t.same(
    inits.map(({ payloads }) => payloads.isClosed),
    [true, true, true, false],
  );
  await settled();
  t.same(forwarder.addresses(), ['other']);
  await close();
});
