// The frame of an I/O thread's program: accepts the connections that the main thread hands over, and gives each to the
// code for its kind.

import { parentPort, workerData } from 'node:worker_threads';
import { describeError, InvariantError } from '../errors.ts';
import { collectAll } from '../process/memory.ts';
import type { BufferPool } from '../queue/buffer-pool.ts';
import { SystemClock } from '../time/clock.ts';
import { type Alarms, type Crossing, type CrossingInit, type CrossingMessage, CrossingSide } from './crossings.ts';
import { type LoopDelays, LoopProbe } from './loop-delay.ts';

/** The data of an I/O thread at its start. */
export interface IoThreadData {
  readonly alarms: Alarms;
}

/** Hands a connection over. */
export interface OpenCrossing {
  readonly open: {
    readonly crossing: CrossingInit;
    readonly data: unknown;
  };
}

/** The first message of a thread: it accepts connections from now on. */
export interface ThreadReady {
  readonly ready: { readonly delays: LoopDelays };
}

/** The message of a connection that could not be carried; the crossing is over then. */
export interface CrossingFailed {
  readonly failed: string;
}

/** Takes a connection over, sets the crossing's owner, and closes the crossing at the end. It may throw. */
export type CrossingKind = (crossing: Crossing, data: never) => void;

/** Bytes of a program whose threads collect their garbage when they become idle. */
const ENOUGH = 256 * 1024 * 1024;

/** Call it once, as the program of the thread. When no connection is left, `buffers` are freed. */
export function hostCrossings(kinds: Readonly<Record<string, CrossingKind>>, buffers?: BufferPool): void {
  const { alarms } = workerData as IoThreadData;
  const probe = new LoopProbe({ clock: new SystemClock() });
  const side = new CrossingSide(
    alarms,
    (message) => parentPort?.postMessage(message),
    () => {
      probe.stop();
      buffers?.clear();
      collectAll(ENOUGH); // this thread refers to the memory of its last connections
    },
  );
  parentPort?.on('message', (message: OpenCrossing | CrossingMessage) => {
    if ('open' in message) {
      probe.start();
      open(side, kinds, message);
    } else side.onMessage(message);
  });
  parentPort?.postMessage({ ready: { delays: probe.delays } } satisfies ThreadReady);
}

function open(side: CrossingSide, kinds: Readonly<Record<string, CrossingKind>>, { open }: OpenCrossing): void {
  const { data } = open;
  const crossing = side.add(open.crossing);
  try {
    const carry = kinds[crossing.kind];
    if (!carry) throw new InvariantError(`an I/O thread carries no ${crossing.kind}`);
    carry(crossing, data as never);
    crossing.touch();
  } catch (error) {
    crossing.post({ failed: describeError(error) } satisfies CrossingFailed);
    crossing.close();
  }
}
