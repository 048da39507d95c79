// Those who wait for places that they share.

/** Wakes them in the order in which they began to wait, and only as long as there are places: each gets its turn. */
export function wakeInTurn<T>(waiting: Set<T>, hasPlace: () => boolean, wake: (each: T) => void): void {
  for (let left = waiting.size; left > 0 && hasPlace(); left--) {
    const [next] = waiting;
    if (next === undefined) return;
    waiting.delete(next);
    wake(next);
  }
}
