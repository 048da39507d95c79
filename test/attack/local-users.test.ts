// Other users of the machine: files, sockets, ports and arguments of all programs, also where the umask gives every
// right away. docs/security.md has the same table in words.

import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { Network } from '../../examples/two-routers/network.ts';
import { Program } from '../../examples/two-routers/process.ts';
import {
  argumentsOf,
  listeningPorts,
  otherUserObstacle,
  processesOf,
  reachedBelow,
} from '../support/programs/other-user.ts';
import { postgresObstacle, postgresPrograms } from '../support/programs/postgres.ts';
import { runProgram } from '../support/programs/run.ts';

const SIM = 'entry/sim-cli.ts';
/** Not a random one: it is looked for in lists of processes. */
const PASSWORD = 'the password of the administrator';
/** 127.0.0.1 as /proc shows it. */
const LOOPBACK = '0100007F';
const skip = otherUserObstacle() ?? false;

interface Ready {
  readonly port: number;
  readonly password: string;
  readonly labToken: string;
  readonly others?: readonly { readonly port: number }[];
  readonly members?: readonly { readonly pid: number }[];
}

/** A folder for temporary files that all users share, like /tmp, for the programs that the test starts. */
const shared = mkdtempSync(join(tmpdir(), 'edgeweave-test-'));
chmodSync(shared, 0o1777);
const before = { TMPDIR: process.env.TMPDIR, umask: process.umask(0) };
process.env.TMPDIR = shared;
t.teardown(() => {
  process.umask(before.umask);
  if (before.TMPDIR === undefined) delete process.env.TMPDIR;
  else process.env.TMPDIR = before.TMPDIR;
  rmSync(shared, { recursive: true, force: true });
});
const at = (name: string) => join(shared, name);

/** The processes of this test, without itself. */
const started = () => processesOf(process.pid).slice(1);

t.test('a simulator with data, and the files that its commands write', { skip }, async (t) => {
  const files = ['--data', at('sim.db'), '--ready-file', at('ready.json'), '--events-file', at('events')];
  const args = [SIM, 'start', '--json', ...files, '--log-file', at('sim.log')];
  await using stack = new AsyncDisposableStack();
  const directory = mkdtempSync(join(shared, 'logs-'));
  const program = new Program('sim', args, { directory, env: { EDGEWEAVE_SIM_PASSWORD: PASSWORD } });
  stack.defer(() => program.stop());
  const ready = JSON.parse(await program.firstLine()) as Ready;
  for (const command of [
    ['identity', 'anna', '--output', at('anna.json')],
    ['snapshot', 'base', '--save', at('base.json'), '--credentials'],
    ['export', '--output', at('network.yml')],
    ['journal', '--recording', at('recording')],
  ]) {
    const { code, stderr } = await runProgram([SIM, ...command, '--ready', at('ready.json')]);
    t.equal(code, 0, stderr);
  }
  t.same(reachedBelow(shared), ['reads sim.db.ca.pem'], 'only what clients trust');
  t.same([...listeningPorts([program.pid])], [[ready.port, LOOPBACK]]);
  for (const secret of [PASSWORD, ready.labToken]) t.notOk(argumentsOf(started()).includes(secret));
});

t.test('controllers with a database of their own', { skip: skip || (postgresObstacle() ?? false) }, async (t) => {
  const env = { EDGEWEAVE_POSTGRES: postgresPrograms ?? '', EDGEWEAVE_SIM_PASSWORD: PASSWORD };
  await using stack = new AsyncDisposableStack();
  const args = [SIM, 'start', '--json', '--nodes', '2', '--store', 'embedded'];
  const program = new Program('embedded', args, { directory: mkdtempSync(join(shared, 'logs-')), env });
  stack.defer(() => program.stop());
  const ready = JSON.parse(await program.firstLine()) as Ready;
  const { others = [], members = [] } = ready;
  const known = [ready.port, ...others.map(({ port }) => port)];
  t.same([...listeningPorts(started()).keys()].toSorted(), known.toSorted(), 'no port of the database');
  t.same(
    reachedBelow(shared).filter((each) => !each.includes('sim.db')),
    [],
  );
  const variables = readFileSync(`/proc/${members[0]?.pid}/environ`, 'utf8');
  const [, password = ''] = /EDGEWEAVE_SIM_STORE=postgres:\/\/\w+:(\w+)@/.exec(variables) ?? [];
  t.match(password, /^[\da-f]{64}$/, 'random');
  const list = argumentsOf(started());
  t.match(list, /postgres/);
  for (const secret of [PASSWORD, password, ready.labToken]) t.notOk(list.includes(secret));
});

t.test('routers as processes', { skip }, async (t) => {
  await using stack = new AsyncDisposableStack();
  const network = await Network.prepare(() => undefined);
  stack.defer(() => network.close());
  await network.up();
  chmodSync(network.directory, 0o755); // the state of a router may be in any folder
  const ofTest = /sim\.db|\.log$|\.yml$|^lists [\w-]+$/;
  t.same(
    reachedBelow(shared).filter((each) => !ofTest.test(each)),
    [],
    'no key, token, list of controllers or socket',
  );
  const open = [...listeningPorts(started())].filter(([, address]) => address !== LOOPBACK);
  t.same(
    open.map(([port]) => port),
    [network.proxyPort],
    'a proxy listener of the configuration serves everybody, as in the reference',
  );
});
