// `inspect FILE`: what a running router of this machine does.

import { existsSync } from 'node:fs';
import { Command } from 'commander';
import { describeError, errorCode } from '#lib/errors.ts';
import { complain, Exit, print } from './exit.ts';

/** No socket, or one that a killed router left behind. */
const NOBODY_THERE: ReadonlySet<string> = new Set(['ENOENT', 'ECONNREFUSED']);

export function inspectCommand(): Command {
  return new Command('inspect')
    .description('show what a running router does: controllers, links, circuits, terminators')
    .argument('<file>', 'its configuration file')
    .option('--json', 'print it as JSON', false)
    .addHelpText('after', '\nExample:\n  router inspect router.yml')
    .action(async (file: string, options: { json: boolean }) => {
      process.exitCode = await inspect(file, options.json);
    });
}

async function inspect(file: string, json: boolean): Promise<number> {
  const { inspectRouter } = await import('../inspect/inspect-socket.ts');
  try {
    const shown = await inspectRouter(file);
    print(json ? JSON.stringify(shown, undefined, 2) : (await import('yaml')).stringify(shown));
    return Exit.Done;
  } catch (error) {
    complain(explain(error, file));
    return Exit.Failed;
  }
}

function explain(error: unknown, file: string): string {
  if (!existsSync(file)) return `${file} does not exist; give the configuration file of a running router`;
  if (NOBODY_THERE.has(errorCode(error) ?? '')) return `no router of this user runs with ${file}`;
  return `the router of ${file} cannot be asked: ${describeError(error)}`;
}
