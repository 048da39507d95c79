// The `profile` section: a CPU profile in pieces of ten minutes, and a memory profile at each interval. Chrome's
// developer tools open both files if their names end in `.cpuprofile` and `.heapprofile`; the previous file is kept as
// `.previous`. For debugging only: profiles cost time and memory. SIGUSR2 ends the CPU profile, as in the reference.

import { renameSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { join, parse } from 'node:path';
import { background } from '#lib/background.ts';
import { describeError, errorCode } from '#lib/errors.ts';
import { writeFileAtomic } from '#lib/files/atomic-file.ts';
import type { Log } from '#lib/log/log.ts';
import { Turns } from '#lib/queue/turns.ts';
import type { Clock, Timer } from '#lib/time/clock.ts';
import type { RouterConfigValues } from '#schemas/config/gen/router-config.ts';

export interface ProfilerComponents {
  clock: Clock;
  log: Log;
}

/** Milliseconds of one CPU profile. V8 keeps every sample in memory, a thousand per second. */
const CPU_PIECE = 600_000;
const END_SIGNAL = 'SIGUSR2';

export class Profiler {
  readonly #components: ProfilerComponents;
  readonly #session: Session;
  readonly #timers: Timer[] = [];
  /** File of the CPU profile in progress. */
  #cpuPath: string | undefined;
  /** Work on the session runs in sequence. */
  readonly #turns = new Turns();
  #stopped: Promise<void> | undefined;
  #isWritingMemory = false;
  /** False until the router has started: the files may belong to another router that occupies its ports. */
  #mayWrite = false;

  private constructor(components: ProfilerComponents, session: Session) {
    this.#components = components;
    this.#session = session;
  }

  /** Undefined if the configuration requests no profile. */
  static async start(
    components: ProfilerComponents,
    config: RouterConfigValues['profile'],
  ): Promise<Profiler | undefined> {
    const cpuPath = config?.cpu?.path;
    const memoryPath = config?.memory?.path;
    if (cpuPath === undefined && memoryPath === undefined) return undefined;
    const session = new Session();
    session.connect();
    const profiler = new Profiler(components, session);
    if (cpuPath !== undefined) await profiler.#sampleCpu(cpuPath);
    if (memoryPath !== undefined) await profiler.#sampleMemory(memoryPath, config?.memory?.intervalMs ?? 0);
    components.log.info({ cpu: cpuPath, memory: memoryPath }, 'profiling started');
    return profiler;
  }

  /** The router has started: from now on, its profiles are written. */
  started(): void {
    this.#mayWrite = true;
  }

  /** Writes the CPU profile and stops. A second call waits for the first. */
  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  async #stop(): Promise<void> {
    for (const timer of this.#timers) timer.cancel();
    await this.#turns.run(() => this.#endCpu());
    this.#session.disconnect();
  }

  async #sampleCpu(path: string): Promise<void> {
    this.#cpuPath = path;
    await this.#session.post('Profiler.enable');
    await this.#session.post('Profiler.start');
    process.once(END_SIGNAL, this.#onSignal);
    this.#timers.push(
      this.#components.clock.every('cpu profile', CPU_PIECE, () =>
        this.#inBackground('cpu profile', () => this.#nextCpuPiece()),
      ),
    );
  }

  readonly #onSignal = (): void => this.#inBackground('cpu profile', () => this.#endCpu());

  /** The file contains the latest piece; the previous piece is beside it. */
  async #nextCpuPiece(): Promise<void> {
    const path = this.#cpuPath;
    if (path === undefined) return;
    const { profile } = await this.#session.post('Profiler.stop');
    await this.#session.post('Profiler.start');
    this.#keepPrevious(path);
    await this.#write(path, profile);
  }

  async #endCpu(): Promise<void> {
    const path = this.#cpuPath;
    if (path === undefined) return;
    this.#cpuPath = undefined;
    process.off(END_SIGNAL, this.#onSignal);
    const { profile } = await this.#session.post('Profiler.stop');
    if (!this.#mayWrite) return;
    this.#keepPrevious(path);
    await this.#write(path, profile);
    this.#components.log.info({ path }, 'cpu profile written');
  }

  #keepPrevious(path: string): void {
    const { dir, name, ext } = parse(path);
    try {
      renameSync(path, join(dir, `${name}.previous${ext}`));
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return; // the first piece
      this.#components.log.warn({ path, error: describeError(error) }, 'previous profile is overwritten');
    }
  }

  async #sampleMemory(path: string, interval: number): Promise<void> {
    await this.#session.post('HeapProfiler.startSampling');
    this.#timers.push(
      this.#components.clock.every('memory profile', interval, () => {
        if (this.#isWritingMemory || !this.#mayWrite) return; // the previous write may still be running
        this.#isWritingMemory = true;
        this.#inBackground('memory profile', () => this.#writeMemory(path));
      }),
    );
  }

  async #writeMemory(path: string): Promise<void> {
    try {
      const { profile } = await this.#session.post('HeapProfiler.getSamplingProfile');
      this.#keepPrevious(path);
      await this.#write(path, profile);
    } finally {
      this.#isWritingMemory = false;
    }
  }

  #inBackground(name: string, task: () => Promise<void>): void {
    background(this.#components.log, name, this.#turns.run(task));
  }

  async #write(path: string, profile: unknown): Promise<void> {
    try {
      await writeFileAtomic(path, JSON.stringify(profile));
    } catch (error) {
      this.#components.log.error({ path, error: describeError(error) }, 'profile could not be written');
    }
  }
}
