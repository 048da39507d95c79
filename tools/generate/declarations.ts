// The declarations of the project's files, as the compiler writes them: for what follows from its types.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from '../commands.ts';

/** Reads the declarations of a file that is named without its ending. Throws if it does not exist. */
export type Read = (file: string) => string;

/** Calls `use` while the declarations exist. */
export function withDeclarations<Result>(use: (read: Read) => Result): Result {
  const folder = mkdtempSync(join(tmpdir(), 'edgeweave-types-'));
  try {
    const tsc = join(ROOT, 'node_modules', '.bin', 'tsc');
    const options = ['--project', 'tsconfig.build.json', '--noCheck', '--outDir', folder];
    execFileSync(tsc, options, { cwd: ROOT, stdio: 'inherit' });
    return use((file) => readFileSync(join(folder, `${file}.d.ts`), 'utf8'));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
