// How one thread wakes another that waits for the event loop. A notification costs both threads some microseconds, more
// than the work on a record, so a thread that looks again by itself gets none.
//
//   touch ─► look in each turn of the loop while there is something ─► asleep ─► wake (by another thread) ─► look
//
// Before it sleeps, a thread says so and then looks once more; a writer publishes and then reads what the thread said.
// One of them sees the other, in every order.

const AWAKE = 0;
const ASLEEP = 1;

/** The memory with which threads wake the one that owns it. */
export function createAlarm(): Int32Array {
  return new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
}

/** Wakes the thread that owns the alarm, if it sleeps. Call it after the change that it must see. */
export function wake(alarm: Int32Array): void {
  if (Atomics.compareExchange(alarm, 0, ASLEEP, AWAKE) === ASLEEP) Atomics.notify(alarm, 0);
}

export class Sleeper {
  readonly #alarm: Int32Array;
  readonly #look: () => boolean;
  #isArmed = false;
  /** A notification of the alarm would arrive. */
  #isWaiting = false;
  #isClosed = false;

  /** `look` handles what others changed, and returns whether there was something. */
  constructor(alarm: Int32Array, look: () => boolean) {
    this.#alarm = alarm;
    this.#look = look;
    this.#fallAsleep();
  }

  /** Looks in the next turn of the event loop. Call it when there is reason to expect something. */
  touch(): void {
    if (this.#isArmed || this.#isClosed) return;
    this.#isArmed = true;
    Atomics.store(this.#alarm, 0, AWAKE);
    setImmediate(() => {
      this.#isArmed = false;
      this.#turn();
    });
  }

  /** `look` is no longer called. */
  close(): void {
    this.#isClosed = true;
    Atomics.store(this.#alarm, 0, AWAKE);
    Atomics.notify(this.#alarm, 0);
  }

  #turn(): void {
    if (this.#isClosed) return;
    if (this.#look()) this.touch();
    else this.#fallAsleep();
  }

  #fallAsleep(): void {
    Atomics.store(this.#alarm, 0, ASLEEP);
    if (this.#look()) {
      this.touch();
      return;
    }
    if (this.#isWaiting) return;
    const { async: isWaiting, value } = Atomics.waitAsync(this.#alarm, 0, ASLEEP);
    if (!isWaiting) {
      this.touch(); // woken in the meantime
      return;
    }
    this.#isWaiting = true;
    void value.then(() => {
      this.#isWaiting = false;
      this.#turn();
    });
  }
}
