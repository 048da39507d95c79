// `inspect FILE`: what a running router of this machine does.

import { Command } from 'commander';
import { describeError } from '#lib/errors.ts';
import { complain, Exit, print } from './exit.ts';

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
    complain(`no router of this user answers for ${file}: ${describeError(error)}`);
    return Exit.Failed;
  }
}
