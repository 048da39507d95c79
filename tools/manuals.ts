// The manual pages of both programs, out of the definitions of their command lines. Each build puts them beside the programs.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { manPage } from '#lib/commands/man-page.ts';
import { shapeOf } from '#lib/commands/shape.ts';
import { routerProgram } from '../agent/commands/program.ts';
import { simulatorProgram } from '../controller-sim/commands/program.ts';
import packageJson from '../package.json' with { type: 'json' };
import { ROOT } from './commands.ts';

const SIGNALS = {
  router:
    'SIGTERM and SIGINT: take no new circuits, give the open ones --drain-seconds, then end with exit code 0. A second one ends the drain. SIGHUP: go on in new log and trace files, read the certificates again, and log what needs a restart.',
  sim: 'SIGTERM and SIGINT: end with exit code 0. Nothing that was answered is lost with --data. SIGHUP: go on in a new log file.',
};

/** Texts by the names of their files. */
export function manuals(): Readonly<Record<string, string>> {
  return {
    'edgeweave-router.1': manual('edgeweave-router', routerProgram, SIGNALS.router),
    'edgeweave-sim.1': manual('edgeweave-sim', simulatorProgram, SIGNALS.sim),
  };
}

function manual(name: string, program: () => Command, signals: string): string {
  process.argv[1] = name; // a command line calls itself and its examples what the user calls it
  const options = { name, version: packageJson.version, date: releaseDate(), sections: { SIGNALS: [signals] } };
  return manPage(shapeOf(program()), options);
}

/** `## 0.1.0, 2026-11-22` in the change log; today for a version that is not released. */
function releaseDate(): string {
  const [, date] = /^## \S+, (\d{4}-\d{2}-\d{2})$/m.exec(readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8')) ?? [];
  return date ?? new Date().toISOString().slice(0, 10);
}
