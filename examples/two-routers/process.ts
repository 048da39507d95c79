// Runs the programs of the network as separate processes: logs go to files, SIGTERM stops them.

import { type ChildProcess, spawn } from 'node:child_process';
import { createWriteStream, existsSync, readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { finished } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';

const ROOT = join(import.meta.dirname, '../..');
const STOP_TIME = 15_000;
const LOG_TAIL = 15;
/** Milliseconds for the last lines of a program to reach its log. */
const LAST_OUTPUT = 1_000;

export class Program {
  readonly name: string;
  readonly logFile: string;
  readonly exited: Promise<number>;
  readonly #child: ChildProcess;

  /** `args` start with the TypeScript file, relative to the project; `node` are options of Node. */
  constructor(
    name: string,
    args: readonly string[],
    options: { directory: string; env?: Readonly<Record<string, string>>; node?: readonly string[] },
  ) {
    const [file = '', ...rest] = args;
    this.name = name;
    this.logFile = join(options.directory, `${name}.log`);
    this.#child = spawn(process.execPath, [...(options.node ?? []), join(ROOT, file), ...rest], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...options.env },
      detached: true, // Ctrl-C in a terminal must reach only the parent
    });
    const log = createWriteStream(this.logFile);
    this.#child.stderr?.pipe(log);
    // The log is complete when the program has ended. A process that it left behind may keep the pipe open.
    const logged = () => Promise.race([finished(log), sleep(LAST_OUTPUT, undefined, { ref: false })]);
    this.exited = new Promise((resolve, reject) => {
      this.#child.once('error', reject);
      this.#child.once('exit', (code, signal) => {
        const result = code ?? 128 + (signal ? constants.signals[signal] : 0);
        logged().then(() => resolve(result), reject);
      });
    });
    this.exited.catch(() => undefined); // other waits report the failure
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** The first line on stdout. Rejects if the program ends without one. */
  async firstLine(): Promise<string> {
    const { stdout } = this.#child;
    if (!stdout) throw new Error(`${this.name} has no output`);
    const lines = createInterface({ input: stdout });
    const line = new Promise<string>((resolve) => lines.once('line', resolve));
    return Promise.race([line, this.exited.then((code) => this.#fail(code))]);
  }

  /** Resolves when the program has ended successfully. */
  async done(): Promise<void> {
    this.#child.stdout?.resume();
    const code = await this.exited;
    if (code !== 0) this.#fail(code);
  }

  /** Stops it with a signal and waits; kills it after a timeout. */
  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    this.#child.kill('SIGTERM');
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), STOP_TIME);
    await this.exited.catch(() => undefined);
    clearTimeout(timer);
  }

  /** Kills it without warning, like a crash. */
  kill(): void {
    this.#child.kill('SIGKILL');
  }

  /** The last lines of its log; empty without a log. */
  logTail(): string {
    if (!existsSync(this.logFile)) return '';
    return readFileSync(this.logFile, 'utf8').trimEnd().split('\n').slice(-LOG_TAIL).join('\n');
  }

  #fail(code: number): never {
    throw new Error(`${this.name} ended with exit code ${code}:\n${this.logTail()}`);
  }
}
