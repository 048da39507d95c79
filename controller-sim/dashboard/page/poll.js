// Repeats requests while the page is visible, and reports whether the simulator answers.

import { useEffect, useRef, useState } from './htm.js';

/** @import { LabError } from './lab-client.js' */

/** Milliseconds between attempts while the simulator does not answer. */
const RETRY = 1_000;
/** @type {{ isBusy: boolean, error: LabError | undefined }} */
const IDLE = { isBusy: false, error: undefined };

/**
 * Calls `work(isCurrent)` now, and `interval` milliseconds after each end of it, while the page is visible and `isOn`.
 * `work` may return true to be called again at once. Begins again when `keys` change.
 * @param {(isCurrent: () => boolean) => Promise<unknown>} work @param {number} interval
 * @param {readonly unknown[]} [keys] @param {boolean} [isOn]
 */
export function usePoll(work, interval, keys = [], isOn = true) {
  const latest = useRef(work);
  latest.current = work;
  useEffect(() => {
    if (!isOn) return undefined;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let timer;
    let isOver = false;
    let isRunning = false;
    const run = async () => {
      clearTimeout(timer);
      if (isOver || isRunning || document.hidden) return;
      isRunning = true;
      let pause = interval;
      try {
        if (await latest.current(() => !isOver)) pause = 0;
      } catch {
        pause = Math.max(interval, RETRY);
      }
      isRunning = false;
      if (!isOver) timer = setTimeout(run, pause);
    };
    void run();
    document.addEventListener('visibilitychange', run);
    return () => {
      isOver = true;
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', run);
    };
  }, [interval, isOn, ...keys]);
}

/** An action of the user: `run(task)`, whether one is running, and the error of the last one. */
export function useAction() {
  const [state, setState] = useState(IDLE);
  /** Resolves with undefined if the task fails. @template Result @param {() => Promise<Result> | Result} task */
  const run = async (task) => {
    setState({ isBusy: true, error: undefined });
    try {
      const result = await task();
      setState(IDLE);
      return result;
    } catch (error) {
      setState({ isBusy: false, error: /** @type {LabError} */ (error) });
      return undefined;
    }
  };
  return { ...state, run };
}
