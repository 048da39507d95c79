// Controllers of one network as processes, with a common PostgreSQL database, and several in one process.

import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CommanderError } from 'commander';
import t from 'tap';
import { startCommand } from '../../controller-sim/commands/start.ts';
import { Program } from '../../examples/two-routers/process.ts';
import { type Management, openManagement } from '../support/clients/management.ts';
import { RELEASE } from '../support/house/thorough.ts';
import { Postgres, postgresObstacle } from '../support/programs/postgres.ts';
import { runProgram } from '../support/programs/run.ts';
import { until } from '../support/until.ts';

const PASSWORD = 'a long secret';
const directory = mkdtempSync(join(tmpdir(), 'edgeweave-test-'));
t.teardown(() => rmSync(directory, { recursive: true, force: true }));

interface Ready {
  readonly management: string;
  readonly ctrl: string;
  readonly ca: string;
  readonly port: number;
  readonly pid: number;
  readonly controllerId: string;
  readonly password: string | null;
  readonly others?: readonly { readonly management: string; readonly controllerId: string; readonly port: number }[];
}

async function start(...args: string[]): Promise<{ program: Program; line: Ready }> {
  const program = new Program(args.join('-').replaceAll(/\W/g, ''), ['entry/sim-cli.ts', 'start', '--json', ...args], {
    directory,
  });
  return { program, line: JSON.parse(await program.firstLine()) as Ready };
}

async function login({ management, ca }: Pick<Ready, 'management' | 'ca'>): Promise<Management> {
  const client = await openManagement(management, readFileSync(ca, 'utf8'), 'admin', PASSWORD);
  return client;
}

t.test('processes with one database', { skip: postgresObstacle() ?? false }, async (t) => {
  await using postgres = await Postgres.start();
  const store = ['--store', await postgres.database('network')];
  // Both create the network at the same time: one of them does, and the other one uses it.
  const [one, two] = await Promise.all(
    ['one', 'two'].map((member) => start(...store, '--member', member, '--password', PASSWORD)),
  );
  if (!one || !two) return t.fail();
  t.equal(readFileSync(one.line.ca, 'utf8'), readFileSync(two.line.ca, 'utf8'), 'one authority');
  const [first, second] = [await login(one.line), await login(two.line)];
  const { id } = await first.services.create({ name: 'echo', encryptionRequired: true });
  const isThere = (client: Management) =>
    client.services.get(id).then(
      () => true,
      () => false,
    );
  await until('the change at the other controller', () => isThere(second));
  const online = async () =>
    (await second.call('listControllers')).filter(({ isOnline }) => isOnline).map((each) => each.id);
  t.same((await online()).sort(), ['one', 'two']);

  const outcome = await runProgram(['entry/sim-cli.ts', 'start', ...store, '--member', 'one']);
  t.match(outcome, { code: 1, stderr: /^the simulator cannot start: a controller with the id one runs already / });
  process.kill(one.line.pid, 'SIGKILL');
  await until('the end of its lease', async () => (await online()).join() === 'two', 30_000);
  await second.services.create({ name: 'later', encryptionRequired: true });
  const again = await start(...store, '--member', 'one');
  t.equal(again.line.port, one.line.port, 'it has its port again');
  t.equal(again.line.password, null, 'the password is known');
  const client = await login(again.line);
  t.equal((await client.services.list()).length, 2, 'no acknowledged change is lost');
  await until('both', async () => (await online()).length === 2);
  if (RELEASE) {
    const onlineAtOne = async () => (await client.call('listControllers')).filter(({ isOnline }) => isOnline).length;
    process.kill(two.line.pid, 'SIGSTOP');
    await until('the end of the lease of a suspended controller', async () => (await onlineAtOne()) === 1, 30_000);
    process.kill(two.line.pid, 'SIGCONT');
    await until('its return', async () => (await onlineAtOne()) === 2, 30_000);
    process.kill(two.line.pid, 'SIGSTOP');
    await until('the end of its lease', async () => (await onlineAtOne()) === 1, 30_000);
    const replacing = await start(...store, '--member', 'two', '--host', '127.0.0.2');
    process.kill(two.line.pid, 'SIGCONT');
    await until('the error', () =>
      /another process runs with the id of this controller/.test(readFileSync(two.program.logFile, 'utf8')),
    );
    const addresses = (await client.call('listControllers')).map((each) => each.ctrlAddress);
    t.ok(addresses.includes(replacing.line.ctrl), addresses.join());
    await replacing.program.stop();
  }
  for (const each of [first, second, client]) await each.close();
  for (const { program } of [again, two]) await program.stop();
});

t.test('several controllers in one process', async (t) => {
  const { program, line } = await start('--nodes', '3', '--password', PASSWORD);
  t.equal(line.controllerId, 'ctrl1');
  t.same(
    line.others?.map(({ controllerId }) => controllerId),
    ['ctrl2', 'ctrl3'],
  );
  const [first, last] = [await login(line), await login({ ...line, ...line.others?.[1] })];
  await first.services.create({ name: 'echo', encryptionRequired: true });
  t.equal((await last.services.list()).length, 1);
  for (const each of [first, last]) await each.close();

  // The first controller of the ready file hangs, or was killed: commands use another one.
  const hanging = createServer();
  hanging.listen(0, '127.0.0.1');
  await once(hanging, 'listening');
  const { port: mute } = hanging.address() as AddressInfo;
  for (const [name, port] of Object.entries({ hangs: mute, killed: 1 })) {
    const ready = join(directory, `${name}.json`);
    const management = `https://127.0.0.1:${port}/edge/management/v1`;
    writeFileSync(ready, JSON.stringify({ ...line, management, port }));
    for (const args of [['cluster', 'list'], ['health']]) {
      const { code, stdout, stderr } = await runProgram(['entry/sim-cli.ts', ...args, '--ready', ready]);
      t.same([code, stderr], [0, ''], `${args.join(' ')} ${name}`);
      t.match(stdout, args[0] === 'health' ? /^ready$/m : /^ctrl3 /m);
    }
    const listed = await runProgram(['entry/sim-cli.ts', 'cluster', 'list', '--json', '--ready', ready]);
    t.match(JSON.parse(listed.stdout), [{ connected: true, index: Number, behind: 0 }]);
    const seed = join(directory, 'seed.yml');
    writeFileSync(seed, `services: [{ name: ${name}, encryptionRequired: true }]\n`);
    const seeded = await runProgram(['entry/sim-cli.ts', 'seed', seed, '--management', '--ready', ready]);
    t.same([seeded.code, seeded.stderr], [0, '']);
    const given = ['journal', '--ready', ready, '--url', management];
    if (name === 'killed')
      t.match(await runProgram(['entry/sim-cli.ts', ...given]), { code: 1, stderr: /no simulator answers at/ });
  }
  hanging.close();
  await program.stop();
});

t.test('wrong combinations are rejected with the remedy', async (t) => {
  for (const [args, message] of [
    [['--nodes', '2', '--data', join(directory, 'sim.db')], /--nodes keeps its data in memory/],
    [['--nodes', '0'], /whole number from 1 to 9/],
    [['--member', 'one'], /give the store too/],
    [
      ['--store', 'mysql://user:geheim@host/x'],
      /^error: option '--store <url>' is invalid\. It must be the URL of a Post/,
    ],
    [['--store', 'postgres://user:geh#geheim@host/x'], /The URL is malformed\. .*%23/],
    [['--nodes', '2', '--member', 'one'], /the ids ctrl1, ctrl2, …; leave out --member/],
    [['--nodes', '2', '--cluster'], /leave out --cluster/],
    [['--store', 'postgres://host/x', '--data', 'sim.db'], /choose one/],
    [['--store', 'postgres://host/x', '--member', 'a/b'], /1 to 64 letters/],
    [['--store', 'embedded'], /--store embedded is for --nodes/],
  ] as const) {
    let printed = '';
    const writeErr = (text: string) => {
      printed += text;
    };
    const command = startCommand().exitOverride().configureOutput({ writeErr });
    await t.rejects(command.parseAsync([...args], { from: 'user' }), CommanderError);
    t.match(printed, message);
    t.notMatch(printed, /geheim/);
  }
});

t.test('a start that fails says why', async (t) => {
  for (const [args, code, message] of [
    [['--nodes', '2', '--port', '65535'], 1, /2 controllers need consecutive ports from 65535, and ports end at 65535/],
    [['--nodes', '2', '--store', 'embedded', '--port', '65535'], 1, /2 controllers need consecutive ports from 65535/],
    [
      ['--store', 'postgres://user:geheim@127.0.0.1:1/x'],
      1,
      /^the simulator cannot start: the database 127\.0\.0\.1:1\/x cannot be used: .*ECONNREFUSED.*\n$/,
    ],
  ] as const) {
    const outcome = await runProgram(['entry/sim-cli.ts', 'start', ...args]);
    t.equal(outcome.code, code, outcome.stderr);
    t.match(outcome.stderr, message);
    t.notMatch(outcome.stderr, /geheim/);
  }
});
