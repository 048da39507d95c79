// The package as users install it: built from the sources of this checkout into a folder that finds the installed
// packages.

import { cpSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');
const FOLDER = join(ROOT, 'node_modules', '.cache', 'bench-package');
/** The entry `edgeweave/sim`. */
export const SIM_ENTRY = join(FOLDER, 'bin', 'sim.mjs');
/** The command `edgeweave-sim`. */
export const SIM_COMMAND = join(FOLDER, 'bin', 'edgeweave-sim.mjs');

/** Takes some seconds. */
export async function buildPackage(): Promise<void> {
  // Loaded here: the processes that are measured import this module too.
  const { bundlePackage } = await import('../../tools/package-bundle.ts');
  rmSync(FOLDER, { recursive: true, force: true });
  await bundlePackage(join(FOLDER, 'dist'));
  cpSync(join(ROOT, 'bin'), join(FOLDER, 'bin'), { recursive: true });
  cpSync(join(ROOT, 'package.json'), join(FOLDER, 'package.json'));
  writeFileSync(join(FOLDER, 'dist', 'package.json'), '{"type":"module"}\n');
}
