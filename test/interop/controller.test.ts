// Our routers on a network of the reference's controller: they enroll there, link to each other and to a router of the
// reference, and serve circuits and clients.

import t from 'tap';
import { transfer } from '../../examples/two-routers/transfer.ts';
import { edgeListener } from '../support/config/link-config.ts';
import { linksOf } from '../support/networks/faulty-paths.ts';
import { fixedPorts } from '../support/networks/fixed-ports.ts';
import { listeningRouter } from '../support/networks/listening-router.ts';
import { Overlay } from '../support/networks/overlay.ts';
import {
  allowRouter,
  enrollIdentity,
  ReferenceController,
  ReferenceProcess,
  ReferenceRouter,
  skipped,
} from '../support/programs/reference.ts';
import { until } from '../support/until.ts';

const MIB = 1024 * 1024;
const PATIENCE = 30_000;

t.test(
  'our routers enroll, link and serve under the controller of the reference',
  { skip: skipped, timeout: 110_000 },
  async (t) => {
    const controller = await ReferenceController.start();
    await using overlay = await Overlay.of(controller, controller.management);
    const own = await overlay.addRouter({
      name: 'own',
      mode: 'proxy',
      services: ['theirs:0'],
      listeners: [edgeListener()],
    });
    await using theirs = await ReferenceRouter.start(overlay, { name: 'theirs', mode: 'host' });
    await overlay.addService('theirs', theirs.id);
    const terminators = async () => (await overlay.management.terminators.list()).length;

    await t.test('a link to a router of the reference, and a circuit over it', async (t) => {
      await until('the link', async () => (await linksOf(overlay)).length === 1, PATIENCE);
      await until('a terminator', async () => (await terminators()) === 1, PATIENCE);
      const flows = async () => (await transfer(own.proxyPort, 1_000).catch(() => ({ bytes: 0 }))).bytes === 1_000;
      await until('traffic', flows, PATIENCE);
      const { sha256Received, sha256Sent } = await transfer(own.proxyPort, 16 * MIB);
      t.equal(sha256Received, sha256Sent);
    });

    await t.test('tunnelers of the reference dial and host at our router', async (t) => {
      // Two identities: with a single one, programs of the reference cannot be both ends of a circuit.
      const host = await enrollIdentity(overlay, 'host');
      const client = await enrollIdentity(overlay, 'client');
      for (const name of ['host', 'client']) await allowRouter(overlay, name, own.id);
      await overlay.addService('hosted', host.id);
      const [port = 0] = await fixedPorts(1);
      await using hosting = new ReferenceProcess('tunnel-host', ['tunnel', 'host', '-i', host.file], overlay.directory);
      await until('its terminator', async () => (await terminators()) === 2, PATIENCE);
      await using proxying = new ReferenceProcess(
        'tunnel-proxy',
        ['tunnel', 'proxy', `hosted:${port}`, '-i', client.file],
        overlay.directory,
      );
      const flows = async () => (await transfer(port, 1_000).catch(() => ({ bytes: 0 }))).bytes === 1_000;
      await until('traffic', flows, PATIENCE);
      const { sha256Received, sha256Sent } = await transfer(port, 8 * MIB);
      t.equal(sha256Received, sha256Sent);
      t.ok(hosting.isRunning && proxying.isRunning);
    });

    await t.test('its command line traces the messages of our router', async (t) => {
      const run = (name: string, line: string) => new ReferenceProcess(name, line.split(' '), overlay.directory);
      const login = `edge login ${controller.baseUrl.replace('https://', '')} -u admin -p admin -y`;
      await run('login', login).done();
      await using stream = run('traces', 'fabric stream traces');
      const toggle = 'fabric stream traces toggle pipe';
      t.match(await run('trace-on', `${toggle} on ${own.id} .*`).done(), `Link ${own.id}.ctrl/`);
      const isTraced = async () => {
        await transfer(own.proxyPort, 1_000).catch(() => undefined);
        return stream.log.includes(' Route ') && stream.log.includes(' Payload ');
      };
      await until('traced messages', isTraced, PATIENCE);
      t.match(await run('trace-off', `${toggle} off ${own.id} .*`).done(), 'New trace state: false');
      const lines = stream.log.split('\n').filter((line) => line.includes(` ${own.id} `));
      const line = (pattern: RegExp) => lines.find((each) => pattern.test(each));
      t.ok(line(/ctrl\/\S+ -> #\d+ +\| ctrl +Route +\{circuitId=\[\w+\]/), 'received messages have the arrow ->');
      t.ok(line(/ctrl\/\S+ <- #\d+ +>\d+ \| ctrl +RouteResult +\{attempt=\[0\]/), 'sent ones <-');
      t.ok(line(/ l\/\S+ .. #\d+ +\| data +Payload /), 'links are traced, too');
      t.notOk(line(/<nil>|map\[/), 'each value is printed');
    });

    await t.test('a restarted router recovers its link and traffic', async (t) => {
      await own.router.close({ drain: 0 });
      await until('the link to close', async () => (await linksOf(overlay)).length === 0, PATIENCE);
      own.router = await overlay.startRouter(own.configFile);
      await until('the link', async () => (await linksOf(overlay)).length === 1, PATIENCE);
      const flows = async () => (await transfer(own.proxyPort, 1_000).catch(() => ({ bytes: 0 }))).bytes === 1_000;
      await until('traffic', flows, PATIENCE);
      t.pass('traffic flows again');
    });
  },
);

t.test('the controller of the reference dials our routers', { skip: skipped, timeout: 110_000 }, async (t) => {
  const controller = await ReferenceController.start({ dialsRouters: true });
  await using overlay = await Overlay.of(controller, controller.management);
  const a = await listeningRouter(overlay, 'a', 'proxy', ['default']);
  const b = await listeningRouter(overlay, 'b', 'host', ['default']);
  for (const { id, controlPort } of [a, b])
    await overlay.management.edgeRouters.patch(id, {
      ctrlChanListeners: { [`tls:127.0.0.1:${controlPort}`]: ['default'] },
    });
  const isDialed = () => [a, b].every(({ router }) => router.describe().controllers.length === 1);
  await until('the controller to dial', isDialed, PATIENCE);
  await overlay.addService('echo', b.id);
  const flows = async () => (await transfer(a.proxyPort, 1_000).catch(() => ({ bytes: 0 }))).bytes === 1_000;
  await until('traffic', flows, PATIENCE);
  const { sha256Received, sha256Sent } = await transfer(a.proxyPort, 4 * MIB);
  t.equal(sha256Received, sha256Sent);
});
