// `sim start --nodes 3 --store embedded`: a database, and a process for each controller. One hangs, and one is killed
// with `kill -9` while the circuits that it has made go on.

import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { Agent, request } from 'undici';
import { errorCode } from '#lib/errors.ts';
import { Program } from '../../examples/two-routers/process.ts';
import { openManagement } from '../support/clients/management.ts';
import { RELEASE } from '../support/house/thorough.ts';
import { Held } from '../support/networks/held.ts';
import { Overlay } from '../support/networks/overlay.ts';
import { postgresObstacle, postgresPrograms } from '../support/programs/postgres.ts';
import { runProgram } from '../support/programs/run.ts';
import { until } from '../support/until.ts';

const PASSWORD = 'a long secret';
const CLI = 'entry/sim-cli.ts';
const MIB = 1024 * 1024;
const directory = mkdtempSync(join(tmpdir(), 'edgeweave-test-'));
t.teardown(() => rmSync(directory, { recursive: true, force: true }));

interface Ready {
  readonly management: string;
  readonly ctrl: string;
  readonly lab: string;
  readonly labToken: string;
  readonly ca: string;
  readonly controllerId: string;
  readonly others: readonly { readonly management: string; readonly controllerId: string }[];
  readonly members: readonly { readonly controllerId: string; readonly pid: number }[];
}

function place() {
  const own = mkdtempSync(join(directory, 'own-'));
  return { own, env: { TMPDIR: own, EDGEWEAVE_POSTGRES: postgresPrograms ?? '' } };
}

/** One that has ended keeps its id until its parent asks for its exit code. */
function runs(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return process.platform !== 'linux' || !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch (error) {
    if (['ESRCH', 'ENOENT'].includes(errorCode(error) ?? '')) return false;
    throw error;
  }
}

t.test(
  'one controller hangs, one is killed: their circuits go on, and nothing is left of the rest',
  { skip: postgresObstacle() ?? false },
  async (t) => {
    const { own, env } = place();
    const args = ['start', '--json', '--nodes', '3', '--store', 'embedded', '--password', PASSWORD];
    const program = new Program('embedded', [CLI, ...args], { directory, env });
    await using stack = new AsyncDisposableStack();
    stack.defer(() => program.stop());
    const line = JSON.parse(await program.firstLine()) as Ready;
    const [folder = ''] = readdirSync(own).filter((name) => name.startsWith('edgeweave-database-'));
    const postmaster = Number(readFileSync(join(own, folder, 'data', 'postmaster.pid'), 'utf8').split('\n')[0]);
    const pidOf = new Map(line.members.map(({ controllerId, pid }) => [controllerId, pid]));
    const pids = [postmaster, ...pidOf.values()];
    t.ok(
      pids.every((pid) => runs(pid)),
      pids.join(),
    );
    const members = await Promise.all(
      [line, ...line.others].map(async ({ controllerId: id, management }) => {
        const client = await openManagement(management, readFileSync(line.ca, 'utf8'), 'admin', PASSWORD);
        stack.defer(() => client.close());
        return { id, client };
      }),
    );
    t.same(
      members.map(({ id }) => id),
      ['ctrl1', 'ctrl2', 'ctrl3'],
    );
    const [first] = members as [(typeof members)[0]];
    const controller = { controlAddress: line.ctrl, close: async () => undefined };
    const overlay = stack.use(await Overlay.of(controller, first.client));
    const a = await overlay.addRouter({ name: 'a', mode: 'proxy' });
    const b = await overlay.addRouter({ name: 'b', mode: 'host' });
    await overlay.addService('echo', b.id);
    for (const { id, client } of members)
      await until(`the routers at ${id}`, async () => (await client.edgeRouters.list()).every((each) => each.isOnline));
    await overlay.ready();
    using held = new Held(a.proxyPort);
    await held.pings('at first', MIB);
    const circuitsAt = async ({ client }: (typeof members)[0]) => (await client.fabric.circuits.list()).length;
    const counts = await Promise.all(members.map(circuitsAt));
    t.same(counts.toSorted(), [0, 0, 1], 'the controller that has made the circuit lists it');
    const maker = members[counts.indexOf(1)] as (typeof members)[0];
    const [hanging, living] = members.filter((each) => each !== maker) as [typeof maker, typeof maker];

    const agent = new Agent({ connect: { ca: readFileSync(line.ca, 'utf8') } });
    stack.defer(() => agent.close());
    const paused = await request(`${line.lab}/cluster/members/${hanging.id}/pause`, {
      dispatcher: agent,
      method: 'POST',
      headers: { authorization: `Bearer ${line.labToken}`, 'content-type': 'application/json' },
      body: JSON.stringify({ duration: '5m' }),
    });
    t.equal(paused.statusCode, 200, await paused.body.text());

    process.kill(pidOf.get(maker.id) ?? 0, 'SIGKILL');
    await held.pings('after the end of the controller that made its circuit', 4 * MIB);
    await living.client.services.create({ name: 'later', encryptionRequired: true });
    t.equal(await circuitsAt(living), 0, 'as in the reference, no other controller lists it');
    const circuits = () => [a, b].map(({ router }) => router.describe().circuits);
    t.same(circuits(), [1, 1]);
    await held.end();
    await until('the end of the circuit', () => circuits().every((count) => count === 0));

    const asked = hanging.client.services.list().then(
      () => 'answered',
      () => 'ended',
    );
    for (let count = 0; count < 3; count++) await living.client.services.list();
    program.kill();
    t.equal(await asked, 'ended', 'one hangs, and the other one serves');
    await until('the end of all processes', () => !pids.some(runs));
    await until('no file', () => readdirSync(own).length === 0);
  },
);

const SKIP = RELEASE ? (postgresObstacle() ?? false) : 'only for a release: it starts another database';
t.test('a stop ends all, and leaves nothing', { skip: SKIP }, async (t) => {
  const { own, env } = place();
  const args = ['start', '--nodes', '1', '--store', 'embedded', '--ttl', '1ms'];
  const outcome = await runProgram([CLI, ...args], { env: { ...process.env, ...env } });
  t.equal(outcome.code, 0, outcome.stderr);
  t.match(outcome.stdout, /^the simulator is ready\n {2}management +https:/);
  t.same(readdirSync(own), []);
});

t.test(
  'a folder for temporary files whose path is too long for a socket',
  { skip: postgresObstacle() ?? false },
  async (t) => {
    const { own, env } = place();
    const long = join(own, 'x'.repeat(80));
    mkdirSync(long);
    const args = ['start', '--nodes', '1', '--store', 'embedded'];
    const outcome = await runProgram([CLI, ...args], { env: { ...process.env, ...env, TMPDIR: long } });
    t.match(outcome, { code: 1, stderr: /too long: set TMPDIR to a folder with a shorter path/ });
    t.same(readdirSync(long), []);
  },
);
