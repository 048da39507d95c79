// Runs the programs of the benchmark as child processes, so that each can use its own core.

import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const HERE = import.meta.dirname;
const ROOT = join(HERE, '..', '..');

export interface Program<T> extends AsyncDisposable {
  readonly ready: T;
  /** MiB of memory that the process uses; undefined if the system does not report it. */
  resident(): number | undefined;
}

/** /proc counts memory in pages of 4 KiB. */
const PAGES_IN_MIB = 256;

/** Starts a script and sends it its setup; resolves with its ready message. */
async function start<T>(script: string, setup: unknown): Promise<Program<T>> {
  const child = fork(join(HERE, script), { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  child.send(setup as object);
  const ended = once(child, 'exit').then(() => {
    throw new Error(`${script} ended before it was ready`);
  });
  const ready = (await Promise.race([once(child, 'message').then(([message]) => message), ended])) as T;
  ended.catch(() => undefined); // a later end is intended
  return { ready, resident: () => residentOf(child.pid), [Symbol.asyncDispose]: () => stop(child) };
}

function residentOf(pid: number | undefined): number | undefined {
  try {
    return Number(readFileSync(`/proc/${pid}/statm`, 'latin1').split(' ')[1]) / PAGES_IN_MIB;
  } catch {
    return undefined; // another operating system
  }
}

async function stop(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit');
  child.disconnect();
  await ended;
}

export interface SimulatorReady {
  readonly baseUrl: string;
  readonly managementUrl: string;
  readonly clientUrl: string;
  readonly ca: string;
}

export function startSimulatorProgram(data?: string): Promise<Program<SimulatorReady>> {
  return start('sim-server.ts', { data });
}

export type Answers = Readonly<Record<string, { method: 'GET' | 'POST'; status: number; body: string }>>;

export function startBareProgram(setup: {
  key: string;
  cert: string;
  answers: Answers;
}): Promise<Program<{ port: number }>> {
  return start('bare-server.ts', setup);
}

/** Milliseconds from the start of the simulator's command to its ready line. Rejects if the simulator ends before it. */
export async function timeToReady(arguments_: readonly string[]): Promise<number> {
  const started = performance.now();
  const child = spawn(
    process.execPath,
    ['controller-sim/cli.ts', 'start', '--json', '--log-level', 'silent', ...arguments_],
    {
      cwd: ROOT,
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const ended = once(child, 'exit');
  const isReady = await Promise.race([
    once(createInterface({ input: child.stdout }), 'line').then(() => true),
    ended.then(() => false),
  ]);
  if (!isReady) throw new Error('the simulator ended before it was ready; its error is above');
  const elapsed = performance.now() - started;
  child.kill('SIGTERM');
  await ended;
  return elapsed;
}

/** The same for the bare server. */
export async function timeToBare(setup: { key: string; cert: string }): Promise<number> {
  const started = performance.now();
  const program = await startBareProgram({ ...setup, answers: {} });
  const elapsed = performance.now() - started;
  await program[Symbol.asyncDispose]();
  return elapsed;
}
