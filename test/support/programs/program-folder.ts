// A folder of programs that a test runs instead of those of the system.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import type { Test } from 'tap';

/** Creates a folder that comes first in PATH until the end of the test, which removes it. */
export function programFolder(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'edgeweave-test-'));
  const before = process.env.PATH;
  t.after(() => {
    process.env.PATH = before;
    rmSync(folder, { recursive: true });
  });
  process.env.PATH = [folder, before].join(delimiter);
  return folder;
}
