// Faults of this controller as a member of a cluster, for learning and tests: it is cut off the store, hangs, or ends
// as if it was killed.

import type { Clock } from '#lib/time/clock.ts';
import { formatDuration } from '#lib/time/duration.ts';
import type { State } from '../state/state.ts';
import { millisecondsOf } from './input.ts';
import { InvalidError } from './lab-error.ts';

/** Milliseconds. */
const DEFAULT_PAUSE = 15_000;
const MAX_PAUSE_MS = 5 * 60_000;
/** Milliseconds in which the answer to the request leaves this process. */
const ANSWER_TIME = 50;

export interface MemberFaultsComponents {
  readonly state: State;
  readonly clock: Clock;
  /** Closes the controller. */
  readonly close: () => Promise<void>;
}

export class MemberFaults {
  /** Whether nothing else runs in this process. */
  hasProcess = false;
  readonly #components: MemberFaultsComponents;

  constructor(components: MemberFaultsComponents) {
    this.#components = components;
  }

  /** Cuts this controller off the store. Routers and clients still reach it. @throws InvalidError if it runs alone */
  partition(): void {
    this.#cutOff(true);
  }

  /** Ends `partition`. @throws InvalidError if it runs alone */
  heal(): void {
    this.#cutOff(false);
  }

  /**
   * Lets the whole process hang for a duration such as `15s`, at most 5 minutes, once its answer has left. @throws
   * InvalidError
   */
  pause(text: string | undefined): void {
    if (!this.hasProcess)
      throw new InvalidError(
        'member',
        'it shares its process with others, which would hang too; start each controller as a process (--nodes with --store embedded, or several starts with one --store)',
        '',
      );
    const milliseconds = text === undefined ? DEFAULT_PAUSE : millisecondsOf('duration', text);
    if (milliseconds <= 0 || milliseconds > MAX_PAUSE_MS)
      throw new InvalidError('duration', `use more than zero and at most ${formatDuration(MAX_PAUSE_MS)}`, text);
    this.#soon('pause', () => {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
    });
  }

  /** Ends the process at once; beside other controllers in the same process, closes this one. */
  kill(): void {
    this.#soon('kill', () => {
      if (this.hasProcess) process.kill(process.pid, 'SIGKILL');
      else void this.#components.close();
    });
  }

  #soon(name: string, work: () => void): void {
    this.#components.clock.after(`${name} of this controller`, ANSWER_TIME, work);
  }

  #cutOff(isCutOff: boolean): void {
    const { others } = this.#components.state;
    if (!others) throw new InvalidError('member', 'it has no other controllers and no common store', '');
    others.cutOff(isCutOff);
  }
}
