// Several controllers of one network: routers connect to all, and traffic goes on without any one of them.

import t from 'tap';
import { startCluster } from '../../controller-sim/assembly/nodes.ts';
import { startSimulator } from '../../controller-sim/assembly/simulator.ts';
import { TEST_COST } from '../../controller-sim/auth/passwords.ts';
import type { Simulator } from '../../controller-sim/interface/simulator.ts';
import { SharedMemory } from '../../controller-sim/state/store/shared-memory.ts';
import { transfer } from '../../examples/two-routers/transfer.ts';
import { ApiClient } from '../support/clients/api-client.ts';
import { type Management, openManagement } from '../support/clients/management.ts';
import { changeMembers } from '../support/networks/changing-members.ts';
import { fixedPorts } from '../support/networks/fixed-ports.ts';
import { Overlay } from '../support/networks/overlay.ts';
import { until } from '../support/until.ts';

const PASSWORD = 'secret';

t.test('routers use every controller, and lose no circuit when one stops', async (t) => {
  await using cluster = await startCluster({ nodes: 3, password: PASSWORD, passwordCost: TEST_COST, churnLimit: 0 });
  const [one, two = one, three = one] = cluster.nodes; // there are three
  const managements: Management[] = [];
  for (const node of cluster.nodes) {
    const management = await openManagement(node.managementUrl, node.ca, node.username, PASSWORD);
    managements.push(management);
  }
  const [first, second] = managements as [Management, Management];
  await using overlay = await Overlay.of(one, first);
  const a = await overlay.addRouter({ name: 'a', mode: 'proxy' });
  const b = await overlay.addRouter({ name: 'b', mode: 'host' });
  await overlay.addService('echo', b.id, { encrypted: true });
  const isOnline = async (management: Management, id: string) => (await management.edgeRouters.get(id)).isOnline;
  const areOnline = async (management: Management) =>
    (await isOnline(management, a.id)) && (await isOnline(management, b.id));
  for (const [index, management] of managements.entries())
    await until(`the routers at controller ${index + 1}`, () => areOnline(management), 30_000);
  const passes = async () => {
    const { bytes, sha256Received, sha256Sent } = await transfer(a.proxyPort, 100_000);
    return bytes === 100_000 && sha256Received === sha256Sent;
  };
  await until('traffic', () => passes().catch(() => false), 30_000);
  // Routers report links to all controllers, and a circuit is one of the controller that made it.
  const linksAt = ({ lab }: Simulator) =>
    lab
      .network()
      .links.map(({ id }) => id)
      .sort();
  for (const node of cluster.nodes) await until('the link', () => linksAt(node).length > 0);
  for (const node of cluster.nodes) t.same(linksAt(node), linksAt(one));
  const described = a.router.describe();
  t.match(JSON.stringify(described), new RegExp(`${two.controlAddress}|ctrl2`));

  await one.close();
  await until('new circuits without the first controller', () => passes().catch(() => false));
  await until('another leader', async () => {
    const members = await second.fabric.call('clusterListMembers');
    return members.some(({ id, leader }) => id === 'ctrl2' && leader);
  });
  t.ok(await areOnline(second));
  const { id } = await second.services.create({ name: 'late', encryptionRequired: true });
  const api = new ApiClient(three);
  t.equal((await api.manage('GET', `/services/${id}`)).status, 200);
  await api.close();
  for (const management of managements.slice(1)) await management.close();
});

t.test('a controller that returns has its port again, and the routers come back', async (t) => {
  const store = new SharedMemory();
  const options = { store, password: PASSWORD, passwordCost: TEST_COST, churnLimit: 0 };
  const [port = 0] = await fixedPorts(1);
  const one = await startSimulator({ ...options, member: 'one', port });
  await using two = await startSimulator({ ...options, member: 'two' });
  const management = await openManagement(two.managementUrl, two.ca, two.username, PASSWORD);
  await using overlay = await Overlay.of(two, management);
  const { id } = await overlay.addRouter({ name: 'a', mode: 'proxy' });
  await one.close();
  await using again = await startSimulator({ ...options, member: 'one' });
  t.equal(again.port, port);
  t.equal(again.ca, two.ca);
  const other = await openManagement(again.managementUrl, again.ca, again.username, PASSWORD);
  await until('the router', async () => (await other.edgeRouters.get(id)).isOnline, 30_000);
  await other.close();
});

t.test('routers follow controllers that come, go and move, and their circuits go on', (t) =>
  changeMembers(t, (overlay, setup) => overlay.addRouter(setup)),
);
