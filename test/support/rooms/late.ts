// Delays of what threads tell each other, in tests.

/** Milliseconds. */
const LONGEST = 3;

/** Posts messages late, in their order. */
export class Late {
  readonly #post: (message: unknown) => void;
  readonly #waiting: unknown[] = [];

  constructor(post: (message: unknown) => void) {
    this.#post = post;
  }

  post(message: unknown): void {
    this.#waiting.push(message);
    setTimeout(() => this.#post(this.#waiting.shift()), Math.random() * LONGEST);
  }
}

/** Notifications of this thread arrive late, in no order. */
export function delayNotifications(): void {
  const notify = Atomics.notify.bind(Atomics);
  Atomics.notify = (array: Int32Array | BigInt64Array, index: number, count?: number) => {
    setTimeout(() => notify(array as Int32Array, index, count), Math.random() * LONGEST);
    return 0;
  };
}
