// The folder for the files of a benchmark: configurations, keys, data and logs.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** A new folder. It is removed when the benchmark ends, also by an error or a signal. */
export function workFolder(): { readonly path: string } & Disposable {
  const path = mkdtempSync(join(tmpdir(), 'edgeweave-bench-'));
  const remove = () => rmSync(path, { recursive: true, force: true, maxRetries: 3 });
  const end = () => process.exit(1);
  process.once('exit', remove);
  for (const signal of SIGNALS) process.once(signal, end);
  return {
    path,
    [Symbol.dispose]() {
      process.off('exit', remove);
      for (const signal of SIGNALS) process.off(signal, end);
      remove();
    },
  };
}
