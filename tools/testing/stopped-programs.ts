// Programs that a test has suspended (SIGSTOP) cannot notice that the run has ended. They are resumed at its end, and
// then end by themselves.

import { readdirSync, readFileSync } from 'node:fs';

/** States of a suspended process in /proc/PID/stat. */
const SUSPENDED = /^\d+ \(.*\) [Tt] /s;

/**
 * Resumes the suspended programs of a run.
 * @param run Process id of the runner, which its programs have as a variable.
 */
export function resumeStopped(run: number): void {
  for (const pid of processes()) {
    if (!SUSPENDED.test(read(`/proc/${pid}/stat`))) continue;
    if (read(`/proc/${pid}/environ`).split('\0').includes(`EDGEWEAVE_EXIT_WITH_PARENT=${run}`)) resume(Number(pid));
  }
}

function resume(pid: number): void {
  try {
    process.kill(pid, 'SIGCONT');
  } catch {
    // it has just ended
  }
}

/** Empty where /proc does not list processes. */
function processes(): string[] {
  try {
    return readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  } catch {
    return [];
  }
}

function read(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return ''; // the process has ended, or belongs to another user
  }
}
