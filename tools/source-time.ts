// The time of the files in images and packages: that of the commit, not that of the build.

import { execFileSync } from 'node:child_process';
import { ROOT } from './commands.ts';

/** Returns seconds since 1970: SOURCE_DATE_EPOCH, else the time of the commit, else 0. */
export function sourceTime(): number {
  const given = process.env.SOURCE_DATE_EPOCH;
  if (given !== undefined) return Number(given);
  try {
    const stdio = ['ignore', 'pipe', 'ignore'] as ('ignore' | 'pipe')[];
    return Number(execFileSync('git', ['log', '-1', '--format=%ct'], { cwd: ROOT, encoding: 'utf8', stdio }));
  } catch {
    return 0; // not a checkout
  }
}

/** Our modules get these values from a build: see `BUILD_DATE`. */
export function buildDefinitions(): { DATE_OF_BUILD: string } {
  const date = new Date(sourceTime() * 1_000).toISOString().replace('.000Z', 'Z');
  return { DATE_OF_BUILD: JSON.stringify(date) };
}
