// `inspect FILE`: what a running router of this machine does.

import { Command } from 'commander';
import { ask } from './ask.ts';
import { Exit, print } from './exit.ts';

export function inspectCommand(): Command {
  return new Command('inspect')
    .description('show what a running router does: controllers, links, circuits, terminators')
    .argument('<file>', 'its configuration file')
    .option('--json', 'print it as JSON', false)
    .addHelpText('after', '\nExample:\n  router inspect router.yml')
    .action(async (file: string, { json }: { json: boolean }) => {
      process.exitCode = await ask(file, 'inspect', {}, async (shown) => {
        print(json ? JSON.stringify(shown, undefined, 2) : (await import('yaml')).stringify(shown));
        return Exit.Done;
      });
    });
}
