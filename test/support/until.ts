// Waits for conditions, for tests, the bench and the example.

/** Milliseconds: far longer than any wait takes on an idle machine. */
const PATIENCE = 60_000;
const LOOK_AGAIN = 20;

/**
 * Looks every few milliseconds until a condition holds, or until there is a value. Rejects with an error of `look`, and
 * after a time limit.
 */
export async function until<T>(
  what: string,
  look: () => T | Promise<T>,
  milliseconds = PATIENCE,
): Promise<Exclude<T, false | undefined>> {
  const end = performance.now() + milliseconds;
  for (;;) {
    const found = await look();
    if (found !== false && found !== undefined) return found as Exclude<T, false | undefined>;
    if (performance.now() > end) throw new Error(`timed out after ${milliseconds} ms waiting for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN));
  }
}

/** As `until`; an error of `look` means that it is not ready yet. */
export async function untilWorking<T>(
  what: string,
  look: () => Promise<T>,
  milliseconds = PATIENCE,
): Promise<Exclude<T, false | undefined>> {
  let last: unknown;
  const tried = async () => {
    try {
      return await look();
    } catch (error) {
      last = error;
      return undefined;
    }
  };
  try {
    return (await until(what, tried, milliseconds)) as Exclude<T, false | undefined>;
  } catch (error) {
    throw new Error((error as Error).message, { cause: last });
  }
}
