// I/O threads for tests, late in both directions: messages and notifications need some milliseconds. A thread can be
// ended at any moment, and another one may take its place at once.

import { Worker } from 'node:worker_threads';
import { silentLog } from '#lib/log/log.ts';
import { IoThreads } from '#lib/threads/io-threads.ts';
import { SystemClock } from '#lib/time/clock.ts';
import { kindOf } from './crossing.ts';
import { delayNotifications, Late } from './late.ts';

const PROGRAM = new URL('./slow-io-thread.ts', import.meta.url);
/** Milliseconds, longer than any pause after the end of a thread. */
const PAUSE = 120_000;

/** The pause after the end of a thread is over at once. */
class SkippingClock extends SystemClock {
  #skipped = 0;

  skip(): void {
    this.#skipped += PAUSE;
  }

  override monotonic(): number {
    return super.monotonic() + this.#skipped;
  }
}

export class SlowThreads {
  readonly threads: IoThreads;
  /** Threads that were ended. */
  ended = 0;
  readonly #clock = new SkippingClock();

  constructor(count: number) {
    delayThisThread();
    this.threads = new IoThreads({ count, program: PROGRAM, clock: this.#clock, log: silentLog });
  }

  /** Connections that threads carry now. */
  get carried(): number {
    return this.threads.inspect().reduce((sum, { connections }) => sum + connections, 0);
  }

  /** Ends the thread with the fewest connections soon. */
  endOne(): void {
    const crossing = this.threads.open(kindOf('end'), () => ({}));
    if (!crossing) return;
    const onLost = () => {
      this.ended++;
      this.#clock.skip();
    };
    crossing.owner = { onTurn: () => false, onMessage: () => undefined, onLost };
  }

  close(): Promise<void> {
    return this.threads.close();
  }
}

let isDelayed = false;

/** Delays the messages and notifications of this thread, for as long as the process runs. */
function delayThisThread(): void {
  if (isDelayed) return;
  isDelayed = true;
  delayNotifications();
  const post = Worker.prototype.postMessage;
  const late = new WeakMap<Worker, Late>();
  Worker.prototype.postMessage = function (this: Worker, message: unknown) {
    const own = late.get(this) ?? new Late(post.bind(this));
    late.set(this, own);
    own.post(message);
  };
}
