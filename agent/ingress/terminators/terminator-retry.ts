// The waits between attempts to create or change a terminator.

export const FIRST_RETRY = 2_000;
const MAX_RETRY_MS = 120_000;

/** Milliseconds after this many failures in a row; each wait is twice as long as the one before. */
export function retryWait(failures: number, first = FIRST_RETRY): number {
  return Math.min(MAX_RETRY_MS, first * 2 ** (failures - 1));
}
