// Third-party clients in Python against the simulator as a process: a fuzzer that follows the OpenAPI documents, and
// the C SDK of 2022. They are skipped without Python.

import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { Program } from '../../examples/two-routers/process.ts';
import { DRIVERS, drivePythonSdk, runDriver, sdkNetwork } from '../support/clients/sdk-drivers.ts';
import { RELEASE } from '../support/house/thorough.ts';
import { until } from '../support/until.ts';

const REQUIREMENTS = join(DRIVERS, 'requirements.txt');
const VENV = join(import.meta.dirname, '../../node_modules/.cache/drivers');
/** Written after an installation; contains the requirements that were installed. */
const MARK = join(VENV, 'installed.txt');
const PYTHON = join(VENV, process.platform === 'win32' ? 'Scripts/python.exe' : 'bin/python');
/** Milliseconds; includes a first installation. */
const PATIENCE = 240_000;
/** For all tests of this file together. */
const PATIENCE_IN_ALL = 600_000;

/** Why the drivers cannot run here; undefined if they can. */
async function install(): Promise<string | undefined> {
  const requirements = readFileSync(REQUIREMENTS, 'utf8');
  if (existsSync(MARK) && readFileSync(MARK, 'utf8') === requirements) return undefined;
  rmSync(VENV, { recursive: true, force: true });
  mkdirSync(VENV, { recursive: true });
  if ((await runDriver('python3', ['-m', 'venv', VENV])).code !== 0) return 'python3 with its module venv is missing';
  const { code, output } = await runDriver(PYTHON, ['-m', 'pip', 'install', '--quiet', '--requirement', REQUIREMENTS]);
  if (code !== 0)
    return `the packages of test/drivers/requirements.txt cannot be installed: ${output.trim().split('\n').at(-1)}`;
  writeFileSync(MARK, requirements);
  return undefined;
}

t.setTimeout(PATIENCE_IN_ALL);
/** The installation alone is ten seconds of a core. */
const obstacle = RELEASE ? await install() : 'only with --release';

for (const [file, name] of [
  ['sdk.py', 'the C SDK of 2022 enrolls, logs in, and sees its services'],
  ['openapi.py', 'every answer conforms to the OpenAPI document'],
] as const) {
  t.test(
    name,
    { timeout: PATIENCE, skip: obstacle !== undefined && `the drivers of test/drivers: ${obstacle}` },
    async (t) => {
      const directory = mkdtempSync(join(tmpdir(), 'edgeweave-test-'));
      const simulator = new Program('sim', ['entry/sim-cli.ts', 'start', '--json'], { directory });
      const { code, output } = await runDriver(PYTHON, [file, await simulator.firstLine()]);
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
    const network = await sdkNetwork();
    await using overlay = network.overlay;
    const drive = (attempt: number) => drivePythonSdk(network, PYTHON, attempt);
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
