// Generates the manual pages of both programs from the definitions of their command lines. Each build includes them.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { manPage } from '#lib/commands/man-page.ts';
import { shapeOf } from '#lib/commands/shape.ts';
import { routerProgram } from '../agent/commands/program.ts';
import { simulatorProgram } from '../entry/sim-program.ts';
import packageJson from '../package.json' with { type: 'json' };
import { ROOT } from './commands.ts';
import { sourceTime } from './source-time.ts';

const SIGNALS = {
  router:
    'SIGTERM and SIGINT: reject new circuits, wait --drain-seconds for the open ones, then end with exit code 0. A second signal ends the drain. SIGHUP: reopen the log and trace files, load the certificates again, and log changes that need a restart. SIGQUIT: write a report into the log.',
  sim: 'SIGTERM and SIGINT: end with exit code 0. With --data, no acknowledged change is lost. SIGHUP: reopen the log file and the events file. SIGQUIT: write a report into the log.',
};

/** Texts by file name. */
export function manuals(): Readonly<Record<string, string>> {
  return {
    'edgeweave-router.1': manual('edgeweave-router', routerProgram, SIGNALS.router),
    'edgeweave-sim.1': manual('edgeweave-sim', simulatorProgram, SIGNALS.sim),
  };
}

function manual(name: string, program: () => Command, signals: string): string {
  process.argv[1] = name; // the help uses the program name of the user's command
  const options = { name, version: packageJson.version, date: releaseDate(), sections: { SIGNALS: [signals] } };
  return manPage(shapeOf(program()), options);
}

/** The date in `## 0.1.0, 2026-11-22` of the change log; that of the commit for an unreleased version. */
function releaseDate(): string {
  const [, date] = /^## \S+, (\d{4}-\d{2}-\d{2})$/m.exec(readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8')) ?? [];
  return date ?? new Date(sourceTime() * 1_000).toISOString().slice(0, 10);
}
