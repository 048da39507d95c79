// The `profile` section: a CPU profile from start to stop, and a memory profile that is written anew every interval. Both in the format of
// the browser's developer tools. For debugging only: a profile costs time and memory.

import { Session } from 'node:inspector/promises';
import { writeFileAtomic } from '#lib/atomic-file.ts';
import { background } from '#lib/background.ts';
import type { Clock, Timer } from '#lib/clock.ts';
import { describeError } from '#lib/errors.ts';
import type { Log } from '#lib/log.ts';
import type { RouterConfig } from '../config/router-config.ts';

export interface ProfilerComponents {
  clock: Clock;
  log: Log;
}

export class Profiler {
  readonly #components: ProfilerComponents;
  readonly #session: Session;
  readonly #cpuPath: string | undefined;
  #timer: Timer | undefined;
  #stopped = false;

  private constructor(components: ProfilerComponents, session: Session, cpuPath: string | undefined) {
    this.#components = components;
    this.#session = session;
    this.#cpuPath = cpuPath;
  }

  /** Undefined when the configuration asks for no profile. */
  static async start(components: ProfilerComponents, config: RouterConfig['profile']): Promise<Profiler | undefined> {
    const cpuPath = config?.cpu?.path;
    const memoryPath = config?.memory?.path;
    if (cpuPath === undefined && memoryPath === undefined) return undefined;
    const session = new Session();
    session.connect();
    const profiler = new Profiler(components, session, cpuPath);
    if (cpuPath !== undefined) {
      await session.post('Profiler.enable');
      await session.post('Profiler.start');
    }
    if (memoryPath !== undefined) await profiler.#sampleMemory(memoryPath, config?.memory?.intervalMs ?? 0);
    components.log.info({ cpu: cpuPath, memory: memoryPath }, 'profiling begins');
    return profiler;
  }

  /** Writes the CPU profile and ends. A second call does nothing. */
  async stop(): Promise<void> {
    if (this.#stopped) return;
    this.#stopped = true;
    this.#timer?.cancel();
    if (this.#cpuPath !== undefined) {
      const { profile } = await this.#session.post('Profiler.stop');
      await this.#write(this.#cpuPath, profile);
    }
    this.#session.disconnect();
  }

  async #sampleMemory(path: string, interval: number): Promise<void> {
    const { clock, log } = this.#components;
    await this.#session.post('HeapProfiler.startSampling');
    this.#timer = clock.every('memory profile', interval, () =>
      background(log, 'memory profile', async () => {
        const { profile } = await this.#session.post('HeapProfiler.getSamplingProfile');
        await this.#write(path, profile);
      }),
    );
  }

  async #write(path: string, profile: unknown): Promise<void> {
    try {
      await writeFileAtomic(path, JSON.stringify(profile));
    } catch (error) {
      this.#components.log.error({ path, error: describeError(error) }, 'profile could not be written');
    }
  }
}
