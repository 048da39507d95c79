// Reads the help of the reference's binary: its commands, and the examples that they print.

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const AT_ONCE = 4;
const HELP_TIME = 20_000;
const run = promisify(execFile);

export interface Help {
  /** Commands without further commands below them, or that run by themselves; without `ziti`. */
  readonly commands: readonly string[];
  /** Each once, on one line, without `ziti`. */
  readonly examples: readonly string[];
}

/** Walks the help below some commands. */
export async function readHelp(binary: string, roots: readonly string[]): Promise<Help> {
  const commands = new Set<string>();
  const examples = new Set<string>();
  const waiting = roots.map((root) => root.split(' '));
  while (waiting.length > 0) {
    const level = waiting.splice(0, AT_ONCE);
    const texts = await Promise.all(
      level.map((path) => run(binary, [...path, '--help'], { encoding: 'utf8', timeout: HELP_TIME })),
    );
    for (const [index, { stdout }] of texts.entries()) {
      const path = level[index] ?? [];
      const below = section(stdout, 'Available Commands').flatMap((line) => line.trim().split(/\s+/)[0] || []);
      waiting.push(...below.map((name) => [...path, name]));
      if (below.length === 0 || section(stdout, 'Usage').some((line) => line.includes('[flags]')))
        commands.add(path.join(' '));
      for (const example of examplesIn(section(stdout, 'Examples'))) examples.add(example);
    }
  }
  return { commands: [...commands].sort(), examples: [...examples].sort() };
}

/** The lines of one section, up to the next one. */
function section(help: string, name: string): string[] {
  const lines = help.split('\n');
  const start = lines.indexOf(`${name}:`);
  if (start < 0) return [];
  const rest = lines.slice(start + 1);
  const end = rest.findIndex((line) => /^[A-Z][\w ]*:$/.test(line));
  return end < 0 ? rest : rest.slice(0, end);
}

/** Lines that begin with `ziti`; a backslash at the end continues them. */
function examplesIn(lines: readonly string[]): string[] {
  const whole = lines.join('\n').replace(/\\\n\s*/g, '');
  return whole.split('\n').flatMap((line) => /^\s*ziti (.*)$/.exec(line)?.[1]?.trim() ?? []);
}
