// Runs statements in a process whose file descriptors are used up.

import { execFileSync } from 'node:child_process';

export interface Statements {
  /** Imports, and what precedes. */
  readonly before: string;
  /** Run while no descriptor is free. */
  readonly during: string;
  /** An expression. */
  readonly result: string;
}

/** Returns the result. Throws with the error output if the process fails. Only for systems with `sh` and `ulimit`. */
export function withoutDescriptors({ before, during, result }: Statements): unknown {
  const script = `
    import { closeSync, openSync } from 'node:fs';
    ${before}
    const opened = [];
    try { for (;;) opened.push(openSync('/dev/null', 'r')); } catch { /* EMFILE: none is free */ }
    ${during}
    for (const each of opened) closeSync(each);
    console.log(JSON.stringify(${result}));`;
  const limited = 'ulimit -n 128; exec "$0" --input-type=module --eval "$1"';
  return JSON.parse(execFileSync('sh', ['-c', limited, process.execPath, script], { encoding: 'utf8', stdio: 'pipe' }));
}
