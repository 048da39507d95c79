// The reference's router and command line with several of our controllers.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { startCluster } from '../../controller-sim/assembly/nodes.ts';
import { TEST_COST } from '../../controller-sim/auth/passwords.ts';
import { transfer } from '../../examples/two-routers/transfer.ts';
import { openManagement } from '../support/clients/management.ts';
import { edgeListener } from '../support/config/link-config.ts';
import { changeMembers } from '../support/networks/changing-members.ts';
import { fixedPorts } from '../support/networks/fixed-ports.ts';
import { Overlay } from '../support/networks/overlay.ts';
import {
  allowRouter,
  enrollIdentity,
  ReferenceProcess,
  ReferenceRouter,
  skipped,
} from '../support/programs/reference.ts';
import { until } from '../support/until.ts';
import { goSdkIn } from './releases/go-sdk.ts';

const PASSWORD = 'secret';
const PATIENCE = 60_000;
/**
 * reference fact: the Go SDK before 1.7, as in releases before 2.0, reads `ztAPI` in place of each address of `ztAPIs`,
 * and some of its versions end with a nil pointer there.
 */
const readsSeveral = () => !/^v?(?:0|1\.[0-6])\./.test(goSdkIn(process.env.ZITI_BIN ?? '') ?? '');

t.test(
  'its routers connect to all controllers, and carry traffic without the first one',
  { skip: skipped },
  async (t) => {
    await using cluster = await startCluster({ nodes: 2, password: PASSWORD, passwordCost: TEST_COST, churnLimit: 0 });
    const [one, two] = cluster.nodes;
    if (!two) return t.fail('there is no second controller');
    const open = (node: typeof one) => openManagement(node.managementUrl, node.ca, 'admin', PASSWORD);
    const [first, second] = [await open(one), await open(two)];
    await using overlay = await Overlay.of(one, first);
    await using a = await ReferenceRouter.start(overlay, { name: 'a', mode: 'proxy' });
    await using b = await ReferenceRouter.start(overlay, { name: 'b', mode: 'host' });
    await overlay.addService('echo', b.id, { encrypted: true });
    const isOnline = async (id: string) => (await second.edgeRouters.get(id)).isOnline;
    await until('the routers at the second controller', async () => (await isOnline(a.id)) && isOnline(b.id), PATIENCE);
    const passes = () =>
      transfer(a.proxyPort, 100_000).then(
        ({ sha256Received, sha256Sent }) => sha256Received === sha256Sent,
        () => false,
      );
    await until('traffic', passes, PATIENCE);

    const ca = join(overlay.directory, 'cluster-ca.pem');
    writeFileSync(ca, one.ca);
    let run = 0;
    const ziti = (...args: string[]) => new ReferenceProcess(`ziti-${run++}`, args, overlay.directory).done();
    await ziti('edge', 'login', two.baseUrl.replace('https://', ''), '-u', 'admin', '-p', PASSWORD, '--ca', ca, '-y');
    const before = await ziti('ops', 'cluster', 'list');
    t.match(before, /ctrl1/);
    t.match(before, /ctrl2/);
    await ziti('ops', 'cluster', 'transfer-leadership', 'ctrl2');
    await until('the leader', async () => /ctrl2[^\n]*true[^\n]*true/.test(await ziti('ops', 'cluster', 'list')));

    await one.close();
    await until('traffic without the first controller', passes, PATIENCE);
    await second.close();
  },
);

t.test('its tunneler goes on at another controller', { skip: skipped }, async (t) => {
  await using cluster = await startCluster({ nodes: 2, password: PASSWORD, passwordCost: TEST_COST, churnLimit: 0 });
  const [one, two] = cluster.nodes;
  if (!two) return t.fail('there is no second controller');
  const open = (node: typeof one) => openManagement(node.managementUrl, node.ca, 'admin', PASSWORD);
  const [first, second] = [await open(one), await open(two)];
  await using overlay = await Overlay.of(one, first);
  const [proxyPort = 0] = await fixedPorts(1);
  const listeners = [edgeListener()];
  const a = await overlay.addRouter({ name: 'a', mode: 'host', listeners });
  const host = await enrollIdentity(overlay, 'host');
  const client = await enrollIdentity(overlay, 'client');
  for (const name of ['host', 'client']) await allowRouter(overlay, name, a.id);
  await overlay.addService('echo', host.id);
  const count = async () => (await second.terminators.list()).length;
  {
    await using _host = new ReferenceProcess('tunnel-host', ['tunnel', 'host', '-i', host.file], overlay.directory);
    await until('a terminator', async () => (await count()) > 0, PATIENCE);
    const proxy = ['tunnel', 'proxy', '-i', client.file, `echo:${proxyPort}`];
    await using _client = new ReferenceProcess('tunnel-proxy', proxy, overlay.directory);
    const passes = () =>
      transfer(proxyPort, 100_000).then(
        ({ sha256Received, sha256Sent }) => sha256Received === sha256Sent,
        () => false,
      );
    await until('traffic', passes, PATIENCE);
    await one.close();
    await until('traffic without the first controller', passes, PATIENCE);
    // reference fact: an enrollment writes only the controller that issued its token; `ztAPIs` lists several.
    const apis = readsSeveral()
      ? { ztAPIs: cluster.nodes.map(({ clientUrl }) => clientUrl) }
      : { ztAPI: two.clientUrl };
    const config = { ...JSON.parse(readFileSync(host.file, 'utf8')), ...apis };
    const lateFile = join(overlay.directory, 'late.json');
    writeFileSync(lateFile, JSON.stringify(config));
    await using late = new ReferenceProcess('late', ['tunnel', 'host', '-i', lateFile], overlay.directory);
    const before = await count();
    await until('another terminator', async () => (await count()) > before, PATIENCE);
    t.ok(late.isRunning);
  }
  await second.close();
});

t.test('its routers follow controllers that come, go and move', { skip: skipped }, (t) =>
  changeMembers(t, async (overlay, setup, stack) => stack.use(await ReferenceRouter.start(overlay, setup))),
);
