// Link configuration that a controller stores for a router: applied at run time, where the router's operator permits
// it.

import { readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import t from 'tap';
import { askRouter } from '../../agent/operator/operator-client.ts';
import { linkListener } from '../support/config/link-config.ts';
import { ending, Overlay, TestRouter } from '../support/networks/overlay.ts';
import { until } from '../support/until.ts';

const NO_LINKS = { listeners: [] };

const peers = ({ router }: TestRouter) => router.describe().links.map(({ peerId }) => peerId);
const registry = async ({ configFile }: TestRouter) =>
  (await askRouter(configFile, 'inspect', { arguments: { name: 'router-config-registry' } })) as {
    handlers: { applied?: object; controllerConfigs: object[] }[];
  };

async function network() {
  const overlay = await Overlay.start({ churnLimit: 0 });
  const managed = async (name: string, port = 0) =>
    overlay.addConfig(name, 'router.link.v1', {
      listeners: [linkListener(port, { groups: ['default', name] })],
      dialers: [{ binding: 'transport', healthyDialBackoff: { minRetryInterval: '200ms', maxRetryInterval: '1s' } }],
    });
  const hold = ({ id }: TestRouter, configs: string[]) => overlay.management.edgeRouters.patch(id, { configs });
  return { overlay, managed, hold };
}

t.test('a router applies link configurations of its controller, changes them, and removes them', async (t) => {
  const { overlay, managed, hold } = await network();
  await using _ = overlay;
  const a = await overlay.addRouter({ name: 'a', mode: 'host' });
  const b = await overlay.addRouter({
    name: 'b',
    mode: 'host',
    link: NO_LINKS,
    extra: { managedConfig: { allow: ['router.link'] } },
  });
  await until('the data model', async () => (await registry(b)).handlers.length === 1);
  t.same(peers(b), []);
  await hold(b, [await managed('first')]);
  await until('a link', () => peers(a).includes(b.id) && peers(b).includes(a.id));
  t.match((await registry(b)).handlers, [
    {
      baseType: 'router.link',
      supportedVersions: [1],
      controllerConfigs: [{ version: 1, data: { listeners: [{ groups: ['default', 'first'] }] } }],
      applied: { source: 'controller', version: 1 },
    },
  ]);
  const first = b.linkPort;
  await hold(b, [await managed('second')]);
  await until('the other listener', () => !b.ports.link.includes(first) && b.ports.link.length === 1);
  t.match((await registry(b)).handlers[0]?.controllerConfigs, [
    { data: { listeners: [{ groups: ['default', 'second'] }] } },
  ]);
  await until('a link', () => peers(a).includes(b.id));
  const second = b.linkPort;
  t.equal(await ending(connect(first, '127.0.0.1')), 'ECONNREFUSED', 'the first port is free again');
  await hold(b, []);
  await until('no configuration', async () => (await registry(b)).handlers[0]?.applied === undefined);
  t.equal(await ending(connect(second, '127.0.0.1')), 'ECONNREFUSED');
  t.same((await registry(b)).handlers[0]?.controllerConfigs, []);
});

t.test('a configuration that cannot be applied leaves the links of the one before', async (t) => {
  const { overlay, managed, hold } = await network();
  await using _ = overlay;
  const a = await overlay.addRouter({ name: 'a', mode: 'host' });
  const extra = { managedConfig: { allow: ['router.link'] } };
  const b = await overlay.addRouter({ name: 'b', mode: 'host', link: NO_LINKS, extra });
  await hold(b, [await managed('first')]);
  await until('a link', () => peers(a).includes(b.id));
  await hold(b, [await managed('occupied', overlay.echo.port)]);
  await until('the other configuration', async () =>
    JSON.stringify((await registry(b)).handlers).includes(`127.0.0.1:${overlay.echo.port}`),
  );
  await until('the listener', async () => {
    const [port] = b.ports.link;
    if (port === undefined) return false;
    const socket = connect(port, '127.0.0.1');
    const isOpen = await new Promise<boolean>((resolve) => {
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    });
    socket.destroy();
    return isOpen;
  });
  t.match((await registry(b)).handlers, [{ applied: { source: 'controller', version: 1 } }]);
});

t.test('a router without edge functions applies link configurations of its controller', async (t) => {
  const { overlay, managed, hold } = await network();
  await using _ = overlay;
  const a = await overlay.addRouter({ name: 'a', mode: 'host' });
  const extra = { managedConfig: { allow: ['router.link'] } };
  const enrolled = await overlay.enrollRouter({ name: 'b', link: NO_LINKS, extra });
  const { id, configFile } = enrolled;
  writeFileSync(configFile, readFileSync(configFile, 'utf8').replace(/^edge: .*$/m, ''));
  const b = new TestRouter(enrolled, await overlay.startRouter(configFile));
  overlay.routers.push(b);
  await hold(b, [await managed('first')]);
  await until('a link', () => peers(a).includes(id) && peers(b).includes(a.id));
  t.match((await registry(b)).handlers, [{ applied: { source: 'controller', version: 1 } }]);
});

t.test(
  'configurations that the operator does not permit, overrides, or that cannot be applied have no effect',
  async (t) => {
    const { overlay, managed, hold } = await network();
    await using _ = overlay;
    const config = await managed('held');
    const occupied = await managed('occupied', overlay.echo.port);
    const rejecting = await overlay.addRouter({ name: 'rejecting', mode: 'host', link: NO_LINKS });
    const own = await overlay.addRouter({ name: 'own', mode: 'host', extra: { managedConfig: { allow: ['all'] } } });
    const failing = await overlay.addRouter({
      name: 'failing',
      mode: 'host',
      link: NO_LINKS,
      extra: { managedConfig: { allow: ['router.link.v1'] } },
    });
    await hold(rejecting, [config]);
    await hold(own, [config]);
    await hold(failing, [occupied]);
    for (const router of [rejecting, own, failing])
      await until(
        'the configuration to arrive',
        async () => ((await registry(router)).handlers[0]?.controllerConfigs.length ?? 0) === 1,
      );
    t.equal((await registry(rejecting)).handlers[0]?.applied, undefined);
    t.match((await registry(own)).handlers[0]?.applied, { source: 'local' });
    t.equal((await registry(failing)).handlers[0]?.applied, undefined, 'its port is in use');
    const listeners = [rejecting, own, failing].map(({ ports }) => ports.link.length);
    t.same(listeners, [0, 1, 0], 'only the one of its own file is open');
    await hold(failing, [config]);
    await until('another try', async () => (await registry(failing)).handlers[0]?.applied !== undefined);
  },
);
