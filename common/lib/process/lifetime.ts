// Reasons for a program to stop, other than signals: whoever started it has ended, or its time is over. So a test
// runner that is killed leaves no program behind.

import { readFileSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { errorCode } from '../errors.ts';
import type { Clock } from '../time/clock.ts';

export interface Lifetime {
  /** The id of the process whose end stops the program; true: its parent. */
  readonly exitWithParent?: number | true | undefined;
  /** The end of standard input stops the program. */
  readonly exitWithStdin?: boolean | undefined;
  /** Milliseconds. */
  readonly ttl?: number | undefined;
}

export interface ProcessView {
  /** The parent of this process, now. */
  readonly ppid: number;
  readonly stdin: Readable;
  /** Tells one process from a later one with the same id; undefined if there is none. */
  identify(pid: number): string | undefined;
}

/** Milliseconds between two looks at another process: the system sends no message about its end. */
const INTERVAL = 500;

const OWN: ProcessView = {
  get ppid() {
    return process.ppid;
  },
  get stdin() {
    return process.stdin;
  },
  identify,
};

/** Resolves with the reason in words when one of the conditions is met; never without any. */
export function endOfLifetime(
  { exitWithParent, exitWithStdin, ttl }: Lifetime,
  clock: Clock,
  view: ProcessView = OWN,
): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  if (exitWithParent === true) {
    const parent = view.ppid;
    watch(clock, () => view.ppid !== parent && resolve('the process that started it has ended'));
  } else if (exitWithParent !== undefined) {
    const identity = view.identify(exitWithParent);
    const text = `process ${exitWithParent} has ended`;
    if (identity === undefined) resolve(text);
    else watch(clock, () => view.identify(exitWithParent) !== identity && resolve(text));
  }
  if (exitWithStdin) {
    const { stdin } = view;
    for (const event of ['end', 'close', 'error']) stdin.once(event, () => resolve('standard input has ended'));
    stdin.resume(); // what it contains has no meaning
  }
  if (ttl !== undefined) clock.after('time to live', ttl, () => resolve('its time to live is over'));
  return promise;
}

function watch(clock: Clock, look: () => unknown): void {
  const timer = clock.every('watched process', INTERVAL, () => {
    if (look() !== false) timer.cancel();
  });
}

/** The start of a process, where the system tells it. */
function identify(pid: number): string | undefined {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (errorCode(error) === 'ESRCH') return undefined; // EPERM: it exists, and belongs to another user
  }
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const [state, ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    // A process that has ended keeps its id until its own parent asks for its exit code.
    return state === 'Z' || state === 'X' ? undefined : fields[STARTED_AT];
  } catch {
    return String(pid); // no Linux
  }
}

/** Position of the time of the start behind the state in /proc/PID/stat (proc_pid_stat(5)). */
const STARTED_AT = 18;
