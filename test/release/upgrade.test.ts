// Upgrade and downgrade: the programs of an earlier commit and those of this one, in turn, on the same files and
// database. The earlier commit is UPGRADE_FROM, else that of the newest version, else the last one with another schema
// of the database.

import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import t, { type Test } from 'tap';
import type { RouterFile } from '../../agent/config/router-file.ts';
import { Program } from '../../examples/two-routers/process.ts';
import { transfer } from '../../examples/two-routers/transfer.ts';
import { createRouter, openManagement } from '../support/clients/management.ts';
import { enrollableFile, routerPair } from '../support/config/router-pair.ts';
import { RELEASE } from '../support/house/thorough.ts';
import { CLOSED_PORT, fixedPorts } from '../support/networks/fixed-ports.ts';
import { Overlay } from '../support/networks/overlay.ts';
import { Postgres, postgresObstacle } from '../support/programs/postgres.ts';
import { runProgram } from '../support/programs/run.ts';
import { until } from '../support/until.ts';

const ROOT = join(import.meta.dirname, '../..');
const PASSWORD = 'of both versions';
const BYTES = 100_000;
const PATIENCE_MS = 60_000;
/** Knows the schema of the database. */
const SCHEMA = 'controller-sim/state/store/migrations.ts';
/** How a program rejects a database of a later release; before SCHEMA existed, the database rejects the program. */
const REJECTED = /of a later release/;
/** How a program rejects to migrate a database under a running one. */
const HELD_BACK = /one \(schema \d+\) could not go on with schema \d+/;
t.setTimeout(600_000);

const folder = mkdtempSync(join(tmpdir(), 'edgeweave-upgrade-'));
t.teardown(() => rmSync(folder, { recursive: true, force: true }));
const from = RELEASE ? earlierCommit() : undefined;
const skip =
  from === undefined &&
  (RELEASE ? 'no history to upgrade from: set UPGRADE_FROM to a commit' : 'upgrades: only with --release');
const LATER = relative(ROOT, ROOT);
const earlier = join(folder, 'earlier');
const EARLIER = relative(ROOT, earlier);

/** A checkout without history, such as an archive, has none. */
function earlierCommit(): string | undefined {
  const git = (...args: string[]) => spawnSync('git', args, { cwd: ROOT, encoding: 'utf8' }).stdout.trim() || undefined;
  const lastSchema = () => {
    const change = git('log', '--max-count=1', '--format=%H', '--', SCHEMA);
    return change && git('rev-parse', '--verify', '--quiet', `${change}^`);
  };
  return process.env.UPGRADE_FROM ?? git('describe', '--tags', '--abbrev=0', '--match=v*') ?? lastSchema();
}

/** The file of a program in a tree; in earlier commits the programs had their own folders. */
function commandLine(tree: string, program: 'router' | 'sim'): string {
  const file = join(tree, 'entry', `${program}-cli.ts`);
  if (existsSync(join(ROOT, file))) return file;
  return join(tree, program === 'router' ? 'agent' : 'controller-sim', 'cli.ts');
}

interface Ready {
  readonly management: string;
  readonly ctrl: string;
  readonly ca: string;
}

/** A simulator of a version, with a client. */
async function simulator(name: string, tree: string, options: readonly string[]) {
  const args = [commandLine(tree, 'sim'), 'start', '--json', '--password', PASSWORD, ...options];
  const program = new Program(name, args, { directory: folder });
  try {
    const ready = JSON.parse(await program.firstLine()) as Ready;
    const management = await openManagement(ready.management, readFileSync(ready.ca, 'utf8'), 'admin', PASSWORD);
    return { program, ready, management };
  } catch (error) {
    await program.stop();
    throw error;
  }
}

async function stop(t: Test, ...programs: Program[]): Promise<void> {
  for (const program of programs) {
    await program.stop();
    t.equal(await program.exited, 0, readFileSync(program.logFile, 'utf8'));
    t.notMatch(readFileSync(program.logFile, 'utf8'), /"level":"error"/, program.name);
  }
}

function routerFile(name: string, ctrl: string, config: RouterFile): string {
  const base = join(folder, name);
  mkdirSync(base, { recursive: true });
  const file = join(base, 'router.yml');
  writeFileSync(file, enrollableFile(join(base, 'r'), ctrl, config));
  return file;
}

t.test('the earlier version is taken from the history', { skip }, async () => {
  mkdirSync(earlier);
  const archive = execFileSync('git', ['archive', from ?? ''], { cwd: ROOT, maxBuffer: 1024 * 1024 * 1024 });
  execFileSync('tar', ['-x', '-C', earlier], { input: archive });
  symlinkSync(join(ROOT, 'node_modules'), join(earlier, 'node_modules'));
});

t.test(
  'a network keeps its data, certificates and traffic through upgrade, downgrade and upgrade',
  { skip },
  async (t) => {
    const data = ['--data', join(folder, 'sim.db')];
    const first = await simulator('sim', EARLIER, data);
    await using overlay = await Overlay.of(
      { controlAddress: first.ready.ctrl, close: async () => undefined },
      first.management,
    );
    const [port = 0, link = 0] = await fixedPorts(2);
    const files = Object.entries(routerPair({ echo: port, link })).map(([name, config]) =>
      routerFile(name, first.ready.ctrl, config),
    );
    for (const [index, file] of files.entries()) {
      const { id, enrollmentJwt } = await createRouter(first.management, {
        name: `router-${index}`,
        isTunnelerEnabled: true,
      });
      writeFileSync(`${file}.jwt`, enrollmentJwt);
      const enrolled = await runProgram([commandLine(EARLIER, 'router'), 'enroll', file, '--jwt', `${file}.jwt`]);
      t.equal(enrolled.code, 0, enrolled.stderr);
      if (index === 1) await overlay.addService('echo', id, { encrypted: true });
    }
    await stop(t, first.program);
    // From now on only the endpoints files that the other version wrote name the controller.
    for (const file of files)
      writeFileSync(file, readFileSync(file, 'utf8').replace(first.ready.ctrl, `tls:127.0.0.1:${CLOSED_PORT}`));
    const services = ['echo'];
    for (const [step, tree] of [EARLIER, LATER, EARLIER, LATER].entries()) {
      const sim = await simulator(`sim-${step}`, tree, data);
      const routers = files.map(
        (file, index) =>
          new Program(`router-${step}-${index}`, [commandLine(tree, 'router'), 'run', file, '--log-format', 'json'], {
            directory: folder,
          }),
      );
      const carries = async () => (await transfer(port, BYTES).catch(() => ({ bytes: 0 }))).bytes === BYTES;
      await until(`traffic in step ${step}`, carries, PATIENCE_MS);
      services.push(`service-${step}`);
      await sim.management.services.create({ name: `service-${step}`, encryptionRequired: true });
      const listed = await sim.management.services.list();
      t.same(listed.map(({ name }) => name).sort(), services.toSorted(), `step ${step}`);
      await sim.management.close();
      await stop(t, ...routers, sim.program);
      if (step === 0) continue;
      for (const { logFile } of routers)
        t.match(
          readFileSync(logFile, 'utf8'),
          /data model loaded from its file/,
          'the model that the other version stored',
        );
    }
  },
);

t.test(
  'a database keeps its data through upgrade, downgrade and upgrade',
  { skip: skip || (postgresObstacle() ?? false) },
  async (t) => {
    const postgres = await Postgres.start();
    t.teardown(() => postgres.close());
    const url = await postgres.database('network');
    const start = (name: string, tree: string, member: string) =>
      simulator(name, tree, ['--store', url, '--member', member]);
    const services: string[] = [];
    const create = async ({ management }: Awaited<ReturnType<typeof simulator>>, name: string) => {
      services.push(name);
      await management.services.create({ name, encryptionRequired: true });
      const listed = await management.services.list();
      t.same(listed.map((each) => each.name).sort(), services.toSorted(), name);
    };
    for (const [step, tree] of [EARLIER, LATER, EARLIER, LATER].entries()) {
      // A database migrates forward only: an earlier version without its schema rejects it, and changes nothing.
      const sim = await start(`store-${step}`, tree, 'one').catch((error) => {
        if (tree === EARLIER && step > 0 && REJECTED.test(String(error))) return undefined;
        throw error;
      });
      if (!sim) continue;
      await create(sim, `service-${step}`);
      // The other version joins, or is held back; the running member goes on in both cases.
      const other = tree === EARLIER ? LATER : EARLIER;
      const beside = await start(`beside-${step}`, other, 'two').catch((error) => {
        if ((other === EARLIER ? REJECTED : HELD_BACK).test(String(error))) return undefined;
        throw error;
      });
      await create(sim, `service-${step}-beside`);
      if (beside) {
        await until(
          'the same changes',
          async () => (await beside.management.services.list()).length === services.length,
        );
        await create(beside, `service-${step}-of-two`);
        await beside.management.close();
        await stop(t, beside.program);
      }
      await sim.management.close();
      await stop(t, sim.program);
    }
  },
);
