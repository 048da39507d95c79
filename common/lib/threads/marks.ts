// A set of small numbers in shared memory: one thread adds, the other takes them all. A thread with many crossings so
// learns at once for which of them there is something to do.

const BITS = 32;

/** For the numbers from 0 to `count` - 1. */
export function createMarks(count: number): Int32Array {
  return new Int32Array(new SharedArrayBuffer(Math.ceil(count / BITS) * Int32Array.BYTES_PER_ELEMENT));
}

/** Call it after the change that the other thread must see. */
export function markAt(marks: Int32Array, number: number): void {
  Atomics.or(marks, number >>> 5, 1 << (number & (BITS - 1)));
}

/** Removes all numbers, and passes each on. */
export function takeMarks(marks: Int32Array, onMark: (number: number) => void): void {
  for (let word = 0; word < marks.length; word++) {
    if (Atomics.load(marks, word) === 0) continue;
    for (let bits = Atomics.exchange(marks, word, 0); bits !== 0; bits &= bits - 1)
      onMark(word * BITS + 31 - Math.clz32(bits & -bits));
  }
}
