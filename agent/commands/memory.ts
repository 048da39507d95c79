// `memory FILE`: prints the memory of a running router, and optionally collects garbage first.

import { Command } from 'commander';
import { examples } from '#lib/commands/name.ts';
import { print } from '#lib/commands/print.ts';
import type { MemoryFigures } from '../profile/runtime.ts';
import { ask } from './ask.ts';
import { Exit } from './exit.ts';

const MIB = 1024 * 1024;
/** Label of each figure. */
const LABELS: Readonly<Record<keyof MemoryFigures, string>> = {
  resident: 'resident',
  heapUsed: 'heap in use',
  heapReserved: 'heap reserved',
  heapLimit: 'heap limit',
  external: 'outside the heap',
  buffers: 'buffers',
  idleBuffers: 'idle buffers',
};

export function memoryCommand(): Command {
  return new Command('memory')
    .description('print the memory of a running router')
    .argument('<file>', 'its configuration file')
    .option('--collect', 'collect garbage and return free memory to the system; the router pauses briefly', false)
    .option('--json', 'print bytes as JSON', false)
    .addHelpText('after', examples('router', 'memory router.yml', 'memory router.yml --collect'))
    .action(async (file: string, { collect, json }: { collect: boolean; json: boolean }) => {
      process.exitCode = await ask(file, 'memory', { arguments: { collect } }, (answer) => {
        print(json ? JSON.stringify(answer, undefined, 2) : table(answer as Readonly<Record<string, MemoryFigures>>));
        return Exit.Done;
      });
    });
}

function table(columns: Readonly<Record<string, MemoryFigures>>): string {
  const names = Object.keys(columns);
  const rows = (Object.keys(LABELS) as (keyof MemoryFigures)[]).map((key) => [
    LABELS[key],
    ...Object.values(columns).map((figures) => `${(figures[key] / MIB).toFixed(1)} MiB`),
  ]);
  const all = names.length > 1 ? [['', ...names], ...rows] : rows;
  return all
    .map(([label = '', ...cells]) => label.padEnd(22) + cells.map((each) => each.padStart(12)).join(''))
    .join('\n');
}
