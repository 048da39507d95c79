// Clients that others have written, in Python, against the simulator as a process: a fuzzer that believes what the OpenAPI documents say,
// and the C SDK of 2022. Where there is no Python they are skipped.

import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { Program } from '../examples/two-routers/process.ts';

const DRIVERS = join(import.meta.dirname, 'drivers');
const REQUIREMENTS = join(DRIVERS, 'requirements.txt');
const VENV = join(import.meta.dirname, '../node_modules/.cache/drivers');
/** Written after an installation: tells for which requirements it was. */
const MARK = join(VENV, 'installed.txt');
const PYTHON = join(VENV, process.platform === 'win32' ? 'Scripts/python.exe' : 'bin/python');
/** Milliseconds; a first installation is among it. */
const PATIENCE = 240_000;

interface Outcome {
  readonly code: number | null;
  readonly output: string;
}

function run(command: string, args: readonly string[]): Promise<Outcome> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd: DRIVERS, env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1' } });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
    child.once('error', (error) => resolve({ code: null, output: error.message }));
    child.once('close', (code) => resolve({ code, output }));
  });
}

/** Why the drivers cannot run here; undefined when they can. */
async function install(): Promise<string | undefined> {
  const requirements = readFileSync(REQUIREMENTS, 'utf8');
  if (existsSync(MARK) && readFileSync(MARK, 'utf8') === requirements) return undefined;
  rmSync(VENV, { recursive: true, force: true });
  mkdirSync(VENV, { recursive: true });
  if ((await run('python3', ['-m', 'venv', VENV])).code !== 0) return 'there is no python3 with its module venv';
  const { code, output } = await run(PYTHON, ['-m', 'pip', 'install', '--quiet', '--requirement', REQUIREMENTS]);
  if (code !== 0)
    return `the packages of test/drivers/requirements.txt cannot be installed: ${output.trim().split('\n').at(-1)}`;
  writeFileSync(MARK, requirements);
  return undefined;
}

t.setTimeout(PATIENCE);
const obstacle = await install();

for (const [file, name] of [
  ['sdk.py', 'the C SDK of 2022 enrolls, logs in, and sees its services'],
  ['openapi.py', 'whatever is sent, the answer is one that the OpenAPI document names'],
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
      t.notMatch(readFileSync(simulator.logFile, 'utf8'), /"level":"error"/, 'nothing went wrong inside');
      rmSync(directory, { recursive: true });
    },
  );
}
