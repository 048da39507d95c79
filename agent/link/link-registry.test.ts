// The effects of links that lost against a duplicate, ended, or belong to a router without a controller.

import t from 'tap';
import { VirtualClock } from '#lib/clock.ts';
import { DialQueue } from '#lib/dial-queue.ts';
import { silentLog } from '#lib/log.ts';
import { seededRandom } from '#lib/random.ts';
import { Forwarder } from '../forwarder/forwarder.ts';
import { MetricsRegistry } from '../metrics/registry.ts';
import type { LinkInit } from './link.ts';
import { linkChannel } from './link-dialer.ts';
import { LinkRegistry } from './link-registry.ts';
import { LinkReporter } from './link-reporter.ts';
import { WantedLinks } from './wanted-links.ts';

const MINUTE = 60_000;

function rooms() {
  const clock = new VirtualClock();
  const log = silentLog;
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
  const settings = { payloadQueueLength: 8, ackQueueLength: 8, heartbeat };
  const dialQueue = new DialQueue({ name: 'pool.link.dialer', length: 1, workers: 1, clock });
  const identity = { id: 'own', clientContext: () => ({}) };
  const dial = { clock, log, random, identity, settings };
  const wanted = new WantedLinks({ clock, log, random, registry, dial, dialQueue }, []);
  /** A link that the peer dialed. */
  const accepted = (id: string, { peerId = 'peer', key = 'key' } = {}): LinkInit => {
    const init = { linkId: id, peerId, connectionId: id, grouped: false, writeTimeout: 0 };
    const channel = linkChannel({ clock, log, settings }, init);
    const address = { peerVersion: 'v2.0.0', iteration: 1, dialed: false, protocol: 'tls', address: 'tls:here:1' };
    return { id, key, peerId, ...address, payloads: channel, acknowledgements: channel };
  };
  /** Names of the metrics of links. */
  const named = () =>
    [metrics.meters, metrics.histograms].flatMap((table) =>
      [...table.keys()].filter((name) => name.startsWith('link.')),
    );
  const close = async () => {
    wanted.close();
    await dialQueue.close();
    await registry.close();
  };
  return { clock, registry, wanted, accepted, named, close };
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
  t.ok(named().every((name) => /[.:]ab\b/.test(name)));
  t.ok(named().includes('link.dropped_msgs:ab'), 'metrics of a link with a similar id stay');
  registry.faulted('ab', 0);
  await settled();
  t.same(named(), []);
  await close();
});

t.test('a redialed link keeps its metrics', async (t) => {
  const { registry, accepted, named, close } = rooms();
  registry.register(accepted('a'));
  registry.register(accepted('a'));
  await settled();
  t.ok(named().includes('link.a.latency'));
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
