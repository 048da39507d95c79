// Runs the programs of the benchmark as separate processes, stops them with their children, and measures their
// resources.

import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { endChild } from '../end-child.ts';

/** Milliseconds until a program that was asked to stop is killed. */
const STOP_TIME = 5_000;
/** /proc counts processor time in hundredths of a second and memory in pages of 4 KiB. */
const TICKS = 100;
const PAGE = 4_096;

export interface Usage {
  /** Seconds of user and system time of all threads. */
  readonly cpu: number;
  /** Those of the main thread: in programs of Node, the thread with the event loop. */
  readonly main: number;
  /** Bytes. */
  readonly resident: number;
}

const running = new Set<Process>();
process.once('exit', () => {
  for (const each of running) each.kill();
});

export class Process implements AsyncDisposable {
  readonly logFile: string;
  readonly #child: ChildProcess;

  constructor(name: string, command: readonly [string, ...string[]], options: SpawnOptions & { directory: string }) {
    const [program, ...args] = command;
    this.logFile = join(options.directory, `${name}.log`);
    const log = openSync(this.logFile, 'a');
    this.#child = spawn(program, args, { stdio: ['ignore', log, log], detached: true, ...options });
    closeSync(log);
    running.add(this);
  }

  get output(): string {
    return readFileSync(this.logFile, 'utf8');
  }

  /** Null while it runs, and if a signal ended it. */
  get exitCode(): number | null {
    return this.#child.exitCode;
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Usage of all processes of its group; zero without /proc. */
  usage(): Usage {
    let [cpu, main, resident] = [0, 0, 0];
    for (const { all, first } of groupMembers(this.#child.pid ?? 0)) {
      cpu += secondsOf(all);
      main += secondsOf(first);
      resident = Math.max(resident, Number(all[21]) * PAGE); // ignores the wrapper that started the program
    }
    return { cpu, main, resident };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const kill = () => this.#signal('SIGKILL');
    await endChild(this.#child, () => this.#signal('SIGTERM'), { milliseconds: STOP_TIME, kill });
    running.delete(this); // until then, an interruption of the benchmark kills it
  }

  /** Kills it without waiting, after an interruption of the benchmark. */
  kill(): void {
    if (this.isRunning) this.#signal('SIGKILL');
  }

  #signal(signal: NodeJS.Signals): void {
    try {
      process.kill(-(this.#child.pid ?? 0), signal);
    } catch {
      // the group is gone already
    }
  }
}

/** Fields of a `stat` file of /proc after the name, starting with the state. */
type StatFields = readonly string[];

function secondsOf(fields: StatFields): number {
  return (Number(fields[11]) + Number(fields[12])) / TICKS;
}

/** Each process of a group: the fields of all threads together, and of its first one. */
function groupMembers(group: number): { readonly all: StatFields; readonly first: StatFields }[] {
  const members: ReturnType<typeof groupMembers> = [];
  let pids: string[] = [];
  try {
    pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  } catch {
    return members; // another operating system
  }
  for (const pid of pids) {
    try {
      const all = readStat(`/proc/${pid}/stat`);
      if (Number(all[2]) === group) members.push({ all, first: readStat(`/proc/${pid}/task/${pid}/stat`) });
    } catch {
      // it ended meanwhile
    }
  }
  return members;
}

function readStat(file: string): StatFields {
  const stat = readFileSync(file, 'latin1');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}
