// Figures and profiles of this process for operators, on request: memory, load, a CPU profile and a profile of memory
// allocations, of the main thread or of an I/O thread. Profiles contain names of functions and files, never values.
// Heap snapshots are not supported, because they contain keys and tokens.

import { Session } from 'node:inspector/promises';
import { availableParallelism } from 'node:os';
import { performance } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';
import { describeError, ProjectError } from '#lib/errors.ts';
import { releaseMemory } from '#lib/process/memory.ts';
import type { BufferPool } from '#lib/queue/buffer-pool.ts';
import type { ProfiledThread, ThreadProfile } from '#lib/threads/io-threads.ts';
import { unlessAborted } from '#lib/time/abort.ts';
import type { Clock } from '#lib/time/clock.ts';
import { PROFILE_RANGE } from './profile-limits.ts';

/** Bytes. */
export interface MemoryFigures {
  readonly resident: number;
  readonly heapUsed: number;
  readonly heapReserved: number;
  readonly heapLimit: number;
  /** Memory outside the heap, including buffers. */
  readonly external: number;
  readonly buffers: number;
  /** Unused blocks of the buffer pool. */
  readonly idleBuffers: number;
}

export type ProfileKind = 'cpu' | 'memory';

const SECOND = 1_000;

let isRecording = false;

export function memoryFigures(pool: BufferPool): MemoryFigures {
  const { rss, heapUsed, heapTotal, external, arrayBuffers } = process.memoryUsage();
  return {
    resident: rss,
    heapUsed,
    heapReserved: heapTotal,
    heapLimit: getHeapStatistics().heap_size_limit,
    external,
    buffers: arrayBuffers,
    idleBuffers: pool.idleBytes,
  };
}

/** Collects garbage and returns free memory to the system. The router does nothing else for tens of milliseconds. */
export function collectGarbage(pool: BufferPool): { readonly before: MemoryFigures; readonly after: MemoryFigures } {
  const before = memoryFigures(pool);
  releaseMemory(pool);
  return { before, after: memoryFigures(pool) };
}

/** Load of the process since its start. */
export function loadFigures(): Record<string, number> {
  const { user, system } = process.cpuUsage();
  return {
    seconds: Math.round(process.uptime()),
    cpuSeconds: Math.round((user + system) / 1e4) / 100,
    busy: Math.round(performance.eventLoopUtilization().utilization * 1_000) / 1_000,
    handles: process.getActiveResourcesInfo().length,
    cpus: availableParallelism(),
  };
}

/**
 * Records for some seconds; returns the text of a `.cpuprofile` or `.heapprofile` file. Rejects with ProjectError, or
 * with the signal's reason.
 *
 * @param thread Default: the main thread.
 */
export async function recordProfile(
  kind: ProfileKind,
  seconds: number,
  {
    clock,
    signal,
    thread,
  }: { readonly clock: Clock; readonly signal: AbortSignal; readonly thread?: ProfiledThread | undefined },
): Promise<string> {
  const { min, max } = PROFILE_RANGE;
  if (!(seconds >= min && seconds <= max))
    throw new ProjectError('BAD_ARGUMENT', `seconds must be a number from ${min} to ${max}`);
  if (isRecording) throw new ProjectError('BUSY', 'another profile is being recorded; try again later');
  isRecording = true;
  const wait = (until: AbortSignal) => clock.sleep(seconds * SECOND, { name: `${kind} profile`, signal: until });
  try {
    if (thread) return await recordThread(kind, thread, () => wait(AbortSignal.any([signal, thread.ended])));
    return await recordMain(kind, () => wait(signal));
  } finally {
    isRecording = false;
  }
}

async function recordMain(kind: ProfileKind, wait: () => Promise<void>): Promise<string> {
  const session = new Session();
  session.connect();
  try {
    await begin(session, kind);
    await wait();
    const { profile } =
      kind === 'cpu' ? await session.post('Profiler.stop') : await session.post('HeapProfiler.stopSampling');
    return JSON.stringify(profile);
  } finally {
    session.disconnect();
  }
}

/** The recording ends, whatever happens to the wait. */
async function recordThread(kind: ProfileKind, thread: ProfiledThread, wait: () => Promise<void>): Promise<string> {
  const { ended } = thread;
  const started = kind === 'cpu' ? thread.startCpuProfile() : thread.startHeapProfile();
  const profile: ThreadProfile = await unlessAborted(ended, started);
  const stop = () => unlessAborted(ended, profile.stop());
  try {
    await wait();
  } catch (error) {
    await stop().catch(() => undefined); // the wait's error says why
    throw error;
  }
  return stop();
}

async function begin(session: Session, kind: ProfileKind): Promise<void> {
  if (kind === 'memory' && (await isSamplingMemory(session))) throw cannotStart(kind, 'memory is already sampled');
  try {
    if (kind === 'memory') return await session.post('HeapProfiler.startSampling');
    await session.post('Profiler.enable');
    await session.post('Profiler.start');
  } catch (error) {
    throw cannotStart(kind, describeError(error));
  }
}

/**
 * Whether any session samples allocations. V8 has one sampler: a second start succeeds, but its end would stop the
 * first.
 */
async function isSamplingMemory(session: Session): Promise<boolean> {
  try {
    await session.post('HeapProfiler.getSamplingProfile');
    return true;
  } catch {
    return false; // V8 has no other way to ask
  }
}

function cannotStart(kind: ProfileKind, reason: string): ProjectError {
  const remedy = 'it may already be recorded: see the section profile of the configuration';
  return new ProjectError('BUSY', `the ${kind} profile cannot be started: ${reason}; ${remedy}`);
}
