// What remains of links that lost against a duplicate, or ended.

import t from 'tap';
import { VirtualClock } from '#lib/clock.ts';
import { silentLog } from '#lib/log.ts';
import { Forwarder } from '../forwarder/forwarder.ts';
import { MetricsRegistry } from '../metrics/registry.ts';
import type { LinkInit } from './link.ts';
import { linkChannel } from './link-dialer.ts';
import { LinkRegistry } from './link-registry.ts';
import { LinkReporter } from './link-reporter.ts';

const MINUTE = 60_000;

function rooms() {
  const clock = new VirtualClock();
  const log = silentLog;
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
  return { clock, registry, accepted, named, close: () => registry.close() };
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
