// Controllers of a network that come, go and move while routers carry traffic: the routers' files of known controllers
// follow, and a circuit goes on whichever controller has made it. For our routers and those of the reference.

import { existsSync, readFileSync } from 'node:fs';
import type { Test } from 'tap';
import { startSimulator } from '../../../controller-sim/assembly/simulator.ts';
import { TEST_COST } from '../../../controller-sim/auth/passwords.ts';
import type { Simulator } from '../../../controller-sim/interface/simulator.ts';
import { SharedMemory } from '../../../controller-sim/state/store/shared-memory.ts';
import { transfer } from '../../../examples/two-routers/transfer.ts';
import { ApiClient, PASSWORD } from '../clients/api-client.ts';
import { openManagement } from '../clients/management.ts';
import { until } from '../until.ts';
import { fixedPorts } from './fixed-ports.ts';
import { Held } from './held.ts';
import { Overlay, type RouterSetup, type TestController } from './overlay.ts';

interface Following {
  readonly id: string;
  readonly proxyPort: number;
}

/** Enrolls and starts a router. The stack ends it before its network. */
type Add = (overlay: Overlay<TestController>, setup: RouterSetup, stack: AsyncDisposableStack) => Promise<Following>;

export async function changeMembers(t: Test, add: Add): Promise<void> {
  await using cleanup = new AsyncDisposableStack();
  const store = new SharedMemory();
  const members = new Map<string, Simulator>();
  const start = async (member: string, port = 0) => {
    const options = { store, member, port, username: 'admin', password: PASSWORD, passwordCost: TEST_COST };
    const simulator = cleanup.use(await startSimulator({ ...options, churnLimit: 0 }));
    members.set(member, simulator);
    return simulator;
  };
  const stop = async (member: string) => {
    await members.get(member)?.close();
    members.delete(member);
  };
  const one = await start('one');
  for (const member of ['two', 'three']) await start(member);
  const management = await openManagement(one.managementUrl, one.ca, 'admin', PASSWORD);
  const overlay = cleanup.use(await Overlay.of<TestController>(one, management));
  const files = ['a', 'b'].map((name) => `${overlay.directory}/${name}-endpoints.yml`);
  const [ofA = '', ofB = ''] = files;
  const a = await add(overlay, { name: 'a', mode: 'proxy', ctrl: { endpointsFile: ofA } }, cleanup);
  const b = await add(overlay, { name: 'b', mode: 'host', ctrl: { endpointsFile: ofB } }, cleanup);
  await overlay.addService('echo', b.id, { encrypted: true });

  /** Controllers that were not removed, by their id; those that have stopped keep their address. */
  const known = new Map([...members].map(([id, { controlAddress }]) => [id, controlAddress]));
  const follow = async (what: string) => {
    const begin = performance.now();
    const wanted = [...known.values()].sort().join();
    await until(`the files of known controllers: ${what}`, () => files.every((file) => addressesIn(file) === wanted));
    t.comment(`${what}: ${Math.round(performance.now() - begin)} ms`);
  };
  const passes = () =>
    transfer(a.proxyPort, 10_000).then(
      ({ sha256Received, sha256Sent }) => sha256Received === sha256Sent,
      () => false,
    );
  await follow('three members');
  await until('traffic', passes);
  using held = new Held(a.proxyPort);
  await held.pings('at first');
  // Each controller lists the circuits that it has made.
  const makers = [...members].filter(([, { lab }]) => lab.network().circuits.length > 0).map(([id]) => id);
  t.ok(makers.length > 0, 'a controller has made the circuit');

  known.set('four', (await start('four')).controlAddress);
  await follow('a fourth one');
  await stop('two');
  const [port] = await fixedPorts(1);
  known.set('two', (await start('two', port)).controlAddress);
  await follow('another port');
  await held.pings('after a move');
  await stop('four');
  const api = new ApiClient(one);
  cleanup.defer(() => api.close());
  t.equal((await api.manage('POST', '/fabric/v1/cluster/remove-member', { id: 'four' })).status, 200);
  known.delete('four');
  await follow('a removal');
  await held.pings('after a removal');
  // The second one has stopped once already.
  for (const maker of makers.filter((id) => id !== 'two')) await stop(maker);
  await held.pings('after the end of the controller that made its circuit');
  await until('new circuits', passes);
  t.equal(addressesIn(ofA), [...known.values()].sort().join(), 'those that have stopped are still known');
}

/** The addresses in a file, sorted. */
function addressesIn(file: string): string {
  const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
  return [...new Set(text.match(/tls:[\w.]+:\d+/g))].sort().join();
}
