// Clients of the reference at our routers, on our network: its tunneler as a host and as a proxy, programs of its SDK,
// its check of the data path, its command line.

import t from 'tap';
import { TokenError, Tokens } from '../../agent/access/tokens.ts';
import { transfer } from '../../examples/two-routers/transfer.ts';
import { clientNetwork } from '../support/networks/client-network.ts';
import { fixedPorts } from '../support/networks/fixed-ports.ts';
import { allowRouter, commandLine, enrollIdentity, ReferenceProcess, skipped } from '../support/programs/reference.ts';
import { until } from '../support/until.ts';

const MIB = 1024 * 1024;
const PATIENCE = 30_000;

t.test('its tunneler hosts at one router and proxies at the other', { skip: skipped, timeout: 60_000 }, async (t) => {
  const { overlay, a, b } = await clientNetwork();
  await using _ = overlay;
  const host = await enrollIdentity(overlay, 'host');
  const client = await enrollIdentity(overlay, 'client');
  await allowRouter(overlay, 'host', b);
  await allowRouter(overlay, 'client', a);
  await overlay.addService('echo', host.id);
  const [port = 0] = await fixedPorts(1);
  await using hosting = new ReferenceProcess('tunnel-host', ['tunnel', 'host', '-i', host.file], overlay.directory);
  await until('a terminator', async () => (await overlay.management.terminators.list()).length > 0, PATIENCE);
  const proxy = ['tunnel', 'proxy', `echo:${port}`, '-i', client.file];
  await using proxying = new ReferenceProcess('tunnel-proxy', proxy, overlay.directory);
  const flows = async () => (await transfer(port, 1_000).catch(() => ({ bytes: 0 }))).bytes === 1_000;
  await until('traffic', flows, PATIENCE);
  for (const result of await Promise.all([32, 4, 4, 4].map((mebibytes) => transfer(port, mebibytes * MIB))))
    t.equal(result.sha256Received, result.sha256Sent, `${result.bytes} bytes`);
  t.ok(hosting.isRunning && proxying.isRunning);
  await until('the circuits to end', () => overlay.routers.every(({ router }) => router.describe().circuits === 0));
});

for (const [who, options] of [
  ['the flow control of routers', ['--sdk-flow-control=false']],
  ['their own flow control', []],
] as const) {
  t.test(
    `no validation finds a circuit that its two tunnelers have ended, with ${who}`,
    { skip: skipped, timeout: 120_000 },
    async (t) => {
      const { overlay, a, b } = await clientNetwork();
      await using _ = overlay;
      const [host, client] = [await enrollIdentity(overlay, 'host'), await enrollIdentity(overlay, 'client')];
      await allowRouter(overlay, 'host', b);
      await allowRouter(overlay, 'client', a);
      await overlay.addService('echo', host.id);
      const [port = 0] = await fixedPorts(1);
      const tunneler = (name: string, args: readonly string[], file: string) =>
        new ReferenceProcess(name, ['tunnel', ...args, '-i', file, ...options], overlay.directory);
      await using _hosting = tunneler('tunnel-host', ['host'], host.file);
      const isHosted = async () => (await overlay.management.terminators.list()).length > 0;
      await until('a terminator', isHosted, PATIENCE);
      await using _proxying = tunneler('tunnel-proxy', ['proxy', `echo:${port}`], client.file);
      const flows = async () => (await transfer(port, 1_000).catch(() => ({ bytes: 0 }))).bytes === 1_000;
      await until('traffic', flows, PATIENCE);
      for (let round = 0; round < 6; round++)
        await Promise.all(Array.from({ length: 10 }, () => transfer(port, 100_000)));
      const ziti = await commandLine(overlay);
      t.match(await ziti('fabric', 'validate', 'circuits'), /\b0 errors/);
    },
  );
}

for (const [who, options] of [
  ['the flow control of routers', []],
  ['their own flow control', ['--sdk-flow-control']],
] as const) {
  t.test(`programs of its SDK host and dial, with ${who}`, { skip: skipped, timeout: 60_000 }, async (t) => {
    const { overlay, a, b } = await clientNetwork();
    await using _ = overlay;
    const [host, client] = [await enrollIdentity(overlay, 'host'), await enrollIdentity(overlay, 'client')];
    await allowRouter(overlay, 'host', b);
    await allowRouter(overlay, 'client', a);
    await overlay.addService('echo', host.id);
    const program = (name: string, identity: string, args: readonly string[], input?: string) =>
      new ReferenceProcess(name, ['demo', ...args, '-i', identity, ...options], overlay.directory, { input });
    await using hosting = program('echo-server', host.file, ['echo-server', '-s', 'echo']);
    const isHosted = async () => (await overlay.management.terminators.list()).length > 0;
    await until('a terminator', isHosted, PATIENCE);
    const texts = Array.from({ length: 8 }, (_none, index) => `text ${index} `.repeat(500 * index + 1));
    const dialing = texts.map((text, index) =>
      program(`zcat${index}`, client.file, ['zcat', 'ziti:echo'], `${text}\n`),
    );
    await until('all echoes', () => dialing.every(({ log }, index) => log.includes(texts[index] ?? '')), PATIENCE);
    t.ok(hosting.isRunning && dialing.every(({ isRunning }) => isRunning));

    const circuits = await overlay.management.fabric.circuits.list();
    t.equal(circuits.length, texts.length);
    const ziti = await commandLine(overlay);
    const listed = await ziti('fabric', 'list', 'circuits');
    for (const { id } of circuits) t.match(listed, id);
    for (const { id, name } of overlay.routers) {
      const links = await ziti('fabric', 'inspect', id, 'links');
      t.match(links, new RegExp(`${id}[.\\s]links`), name);
      const inspected = await ziti('fabric', 'inspect', 'circuit', circuits[0]?.id ?? '');
      t.match(inspected, id, `${name} describes its part of the circuit`);
    }
    await Promise.all(dialing.map((each) => each.kill()));
    await until('the circuits to end', () => overlay.routers.every(({ router }) => router.describe().circuits === 0));
  });
}

t.test(
  'its tunneler gets a new session if routers reject the binds of its first one, and repeats few of them',
  { skip: skipped, timeout: 60_000 },
  async (t) => {
    const { overlay, b } = await clientNetwork();
    await using _ = overlay;
    // Acts as if the controller had issued the first token for an earlier login.
    const { service: verify } = Tokens.prototype;
    t.teardown(() => {
      Tokens.prototype.service = verify;
    });
    let first: string | undefined;
    let rejections = 0;
    Tokens.prototype.service = function (this: Tokens, token, apiSessionId) {
      first ??= token;
      if (token !== first) return verify.call(this, token, apiSessionId);
      rejections++;
      return Promise.reject(new TokenError('the service token belongs to another API session'));
    };
    const host = await enrollIdentity(overlay, 'host');
    await allowRouter(overlay, 'host', b);
    await overlay.addService('echo', host.id);
    await using hosting = new ReferenceProcess('tunnel-host', ['tunnel', 'host', '-i', host.file], overlay.directory);
    await until('a terminator', async () => (await overlay.management.terminators.list()).length > 0, PATIENCE);
    t.ok(hosting.isRunning);
    t.ok(rejections > 2 && rejections < 200, `${rejections} rejections`);
  },
);

t.test(
  'its check of the data path succeeds, and its command line lists our routers',
  { skip: skipped, timeout: 60_000 },
  async (t) => {
    const { overlay } = await clientNetwork();
    await using _ = overlay;
    const everything = { semantic: 'AnyOf', edgeRouterRoles: ['#all'] } as const;
    await overlay.management.edgeRouterPolicies.create({ name: 'all', identityRoles: ['#all'], ...everything });
    await overlay.management.serviceEdgeRouterPolicies.create({
      name: 'all',
      serviceRoles: ['#all'],
      ...everything,
    });
    const ziti = await commandLine(overlay);
    t.match(await ziti('ops', 'verify', 'traffic', '-y'), /success/i);
    const routers = await ziti('fabric', 'list', 'routers');
    for (const { id } of overlay.routers) t.match(routers, id);
    const [link] = await overlay.management.fabric.links.list();
    t.match(await ziti('fabric', 'list', 'links'), link?.id);
    t.match(await ziti('fabric', 'list', 'links', 'cost > 0 and sourceLatency > 0 and state = "Connected"'), link?.id);
  },
);
