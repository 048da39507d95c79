// Third-party clients in Python against the simulator as a process: a fuzzer that follows the OpenAPI documents, and
// the C SDK of 2022. They are skipped without Python.

import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { errorCode } from '#lib/errors.ts';
import { freePorts } from '../../examples/two-routers/ports.ts';
import { Program } from '../../examples/two-routers/process.ts';
import { Overlay, until } from '../support/overlay.ts';

const DRIVERS = join(import.meta.dirname, '../drivers');
const REQUIREMENTS = join(DRIVERS, 'requirements.txt');
const VENV = join(import.meta.dirname, '../../node_modules/.cache/drivers');
/** Written after an installation; contains the requirements that were installed. */
const MARK = join(VENV, 'installed.txt');
const PYTHON = join(VENV, process.platform === 'win32' ? 'Scripts/python.exe' : 'bin/python');
/** Milliseconds; includes a first installation. */
const PATIENCE = 240_000;
/** For all tests of this file together. */
const PATIENCE_IN_ALL = 600_000;

interface Outcome {
  /** Null if a signal ended the program. */
  readonly code: number | null;
  readonly output: string;
}

function run(command: string, args: readonly string[]): Promise<Outcome> {
  return new Promise((resolve) => {
    const env = { ...process.env, PYTHONDONTWRITEBYTECODE: '1', PYTHONFAULTHANDLER: '1' };
    const child = spawn(command, args, { cwd: DRIVERS, env, detached: true });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
    child.once('error', (error) => resolve({ code: null, output: error.message }));
    // A crashing driver leaves child processes behind, which would keep its output open.
    child.once('exit', (code, signal) => {
      if (signal !== null) output += `\nended by ${signal}`;
      endGroup(child.pid);
      child.once('close', () => resolve({ code, output }));
    });
  });
}

function endGroup(leader: number | undefined): void {
  try {
    if (leader !== undefined) process.kill(-leader, 'SIGKILL');
  } catch (error) {
    if (errorCode(error) !== 'ESRCH') throw error; // no process is left
  }
}

/** Why the drivers cannot run here; undefined if they can. */
async function install(): Promise<string | undefined> {
  const requirements = readFileSync(REQUIREMENTS, 'utf8');
  if (existsSync(MARK) && readFileSync(MARK, 'utf8') === requirements) return undefined;
  rmSync(VENV, { recursive: true, force: true });
  mkdirSync(VENV, { recursive: true });
  if ((await run('python3', ['-m', 'venv', VENV])).code !== 0) return 'python3 with its module venv is missing';
  const { code, output } = await run(PYTHON, ['-m', 'pip', 'install', '--quiet', '--requirement', REQUIREMENTS]);
  if (code !== 0)
    return `the packages of test/drivers/requirements.txt cannot be installed: ${output.trim().split('\n').at(-1)}`;
  writeFileSync(MARK, requirements);
  return undefined;
}

t.setTimeout(PATIENCE_IN_ALL);
const obstacle = await install();

for (const [file, name] of [
  ['sdk.py', 'the C SDK of 2022 enrolls, logs in, and sees its services'],
  ['openapi.py', 'every answer conforms to the OpenAPI document'],
] as const) {
  t.test(
    name,
    { timeout: PATIENCE, skip: obstacle !== undefined && `the drivers of test/drivers: ${obstacle}` },
    async (t) => {
      const directory = mkdtempSync(join(tmpdir(), 'edgeweave-test-'));
      const simulator = new Program('sim', ['controller-sim/cli.ts', 'start', '--json'], { directory });
      const { code, output } = await run(PYTHON, [file, await simulator.firstLine()]);
      t.equal(code, 0, output);
      await simulator.stop();
      t.notMatch(readFileSync(simulator.logFile, 'utf8'), /"level":"error"/, 'no internal errors');
      rmSync(directory, { recursive: true });
    },
  );
}

t.test(
  'the C SDK of 2022 hosts at one router and dials at another: bytes, half closes, many connections, a killed host',
  { timeout: PATIENCE, skip: obstacle !== undefined && `the drivers of test/drivers: ${obstacle}` },
  async (t) => {
    await using overlay = await Overlay.start({ churnLimit: 0 });
    const ports = await freePorts(2);
    for (const [index, name] of ['a', 'b'].entries()) {
      const address = `127.0.0.1:${ports[index]}`;
      const listeners = `{binding: edge, address: "tls:${address}", options: {advertise: "${address}"}}`;
      await overlay.addRouter({ name, mode: 'host', listeners });
    }
    const { management } = overlay;
    const tokenOf = async (name: string, attempt: number) => {
      const id = await management.create('identities', {
        name: `${name} ${attempt}`,
        type: 'Device',
        isAdmin: false,
        roleAttributes: [name === 'client' ? 'clients' : 'hosts'],
        enrollment: { ott: true },
      });
      return (await management.get<{ enrollment: { ott: { jwt: string } } }>(`identities/${id}`)).enrollment.ott.jwt;
    };
    const everything = { semantic: 'AnyOf', edgeRouterRoles: ['#all'] };
    await management.create('services', { name: 'sdk', encryptionRequired: true });
    await management.create('service-edge-router-policies', { name: 'all', serviceRoles: ['#all'], ...everything });
    // The hosts use one router and the client the other, so that all traffic crosses a link.
    for (const [role, router] of [
      ['hosts', 'b'],
      ['clients', 'a'],
    ] as const) {
      const routerId = overlay.routers.find(({ name }) => name === router)?.id;
      const edgeRouterRoles = [`@${routerId}`];
      await management.create('edge-router-policies', {
        ...everything,
        name: role,
        identityRoles: [`#${role}`],
        edgeRouterRoles,
      });
      const type = role === 'hosts' ? 'Bind' : 'Dial';
      const policy = { name: type, type, semantic: 'AnyOf', identityRoles: [`#${role}`], serviceRoles: ['#all'] };
      await management.create('service-policies', policy);
    }
    const drive = async (attempt: number) => {
      const [first, second, client] = await Promise.all(
        ['first', 'second', 'client'].map((name) => tokenOf(name, attempt)),
      );
      return run(PYTHON, ['data.py', 'drive', JSON.stringify({ service: 'sdk', first, second, client })]);
    };
    const outcomes = [await drive(1)];
    // This SDK crashes once in dozens of runs, so a crash is retried. A rejection, a lost byte or a wrong answer ends
    // it with an exit code and fails at once.
    if (outcomes[0]?.code === null) outcomes.push(await drive(2));
    t.equal(outcomes.at(-1)?.code, 0, outcomes.map(({ output }) => output).join('\n'));
    await until('the routers to be empty', () =>
      overlay.routers.every(({ router }) => {
        const { circuits, circuitEnds, sdkClients } = router.describe();
        return circuits === 0 && circuitEnds === 0 && sdkClients === 0;
      }),
    );
  },
);
