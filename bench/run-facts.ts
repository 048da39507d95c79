// The circumstances of a benchmark run. Figures without them are not comparable.

import { availableParallelism, cpus, release } from 'node:os';
import { join } from 'node:path';
import { commitOf, git } from '../tools/commit.ts';
import { describeTaken, isDisturbed } from './disturbance.ts';
import type { RunFacts } from './report.ts';

const ROOT = join(import.meta.dirname, '..');

/** @param root Folder of the project. */
export function runFacts(quick: boolean, date: Date, root = ROOT): Omit<RunFacts, 'rounds' | 'taken'> {
  const commit = commitOf(root);
  return {
    date: date.toISOString(),
    commit: commit ?? null,
    dirty: commit !== undefined && isDirty(root),
    cpu: cpus()[0]?.model.trim() || 'unknown',
    cores: availableParallelism(),
    node: process.version,
    platform: `${process.platform} ${release()} ${process.arch}`,
    quick,
  };
}

/** One line for people. */
export function describeRun(run: RunFacts): string {
  const { date, commit, dirty, cpu, cores, node, platform, rounds, quick, taken } = run;
  const source = commit === null ? 'no checkout' : `commit ${commit.slice(0, 12)}${dirty ? ' (dirty)' : ''}`;
  const times = `${rounds} ${rounds === 1 ? 'round' : 'rounds'}${quick ? ' (--quick: not for figures)' : ''}`;
  const machine = `${cpu}, ${cores} ${cores === 1 ? 'core' : 'cores'}`;
  const disturbed = taken && isDisturbed(taken) ? [`disturbed: ${describeTaken(taken)}`] : [];
  return [date, source, machine, `Node ${node}`, platform, times, ...disturbed].join(' · ');
}

/** Whether files of the project differ from the commit, apart from results of earlier runs. */
function isDirty(root: string): boolean {
  return git(root, 'status', '--porcelain', '--untracked-files=no', '--', '.', ':!bench/results') !== '';
}
