// Runs the programs of the benchmark as child processes, so that each can use its own core.

import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { endChild } from '../end-child.ts';

const HERE = import.meta.dirname;
const ROOT = join(HERE, '..', '..');

export interface Program<T> extends AsyncDisposable {
  readonly ready: T;
  /** MiB of memory that the process uses; undefined if the system does not report it. */
  resident(): number | undefined;
}

/** Milliseconds until a program is ready; with all data of the benchmark it takes some seconds. */
const START_TIME = 120_000;
/** /proc counts memory in pages of 4 KiB. */
const PAGES_IN_MIB = 256;

/** Starts a script and sends it its setup; resolves with its ready message. */
async function start<T>(script: string, setup: unknown): Promise<Program<T>> {
  const child = fork(join(HERE, script), { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  child.send(setup as object, () => undefined); // a program that has crashed is noticed by its end
  const end = () => endChild(child, () => child.connected && child.disconnect());
  const ready = once(child, 'message').then(([message]) => message as T);
  try {
    return {
      ready: await untilReady(script, child, ready),
      resident: () => residentOf(child.pid),
      [Symbol.asyncDispose]: end,
    };
  } catch (error) {
    await end();
    throw error;
  }
}

/** Rejects if the program ends first or takes too long. */
async function untilReady<T>(name: string, child: ChildProcess, ready: Promise<T>): Promise<T> {
  const { promise: failed, reject } = Promise.withResolvers<never>();
  const onExit = () => reject(new Error(`${name} ended before it was ready; its error is above`));
  const timer = setTimeout(() => reject(new Error(`${name} was not ready within ${START_TIME} ms`)), START_TIME);
  child.once('exit', onExit);
  try {
    return await Promise.race([ready, failed]);
  } finally {
    clearTimeout(timer);
    child.off('exit', onExit);
  }
}

function residentOf(pid: number | undefined): number | undefined {
  try {
    return Number(readFileSync(`/proc/${pid}/statm`, 'latin1').split(' ')[1]) / PAGES_IN_MIB;
  } catch {
    return undefined; // another operating system
  }
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

/**
 * Milliseconds from the start of the simulator's command to its ready line. Rejects if the simulator ends before it.
 * @param program File of the command line; without it, the sources.
 */
export async function timeToReady(arguments_: readonly string[], program = 'entry/sim-cli.ts'): Promise<number> {
  const started = performance.now();
  const child = spawn(process.execPath, [program, 'start', '--json', '--log-level', 'silent', ...arguments_], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    await untilReady('the simulator', child, once(createInterface({ input: child.stdout }), 'line'));
    return performance.now() - started;
  } finally {
    await endChild(child, () => child.kill('SIGTERM'));
  }
}

/** The same for the bare server. */
export async function timeToBare(setup: { key: string; cert: string }): Promise<number> {
  const started = performance.now();
  const program = await startBareProgram({ ...setup, answers: {} });
  const elapsed = performance.now() - started;
  await program[Symbol.asyncDispose]();
  return elapsed;
}
