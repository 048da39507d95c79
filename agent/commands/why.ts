// `why`: the running router explains a link to another router, or the right to a service. Exit code 0 if it holds.

import { Command } from 'commander';
import { examples } from '#lib/commands/name.ts';
import { print } from '#lib/commands/print.ts';
import { showReasons } from '#lib/commands/reasons.ts';
import type { Explanation } from '../why/reason.ts';
import { ask } from './ask.ts';
import { Exit } from './exit.ts';

interface WhyOptions {
  readonly identity?: string;
  readonly json?: true;
}

export function whyCommand(): Command {
  const command = new Command('why')
    .description('let a running router explain a link or the right to a service; exit code 1 if it does not hold')
    .addHelpText('after', examples('router', 'why link router.yml edge-2', 'why dial router.yml web'));
  for (const each of [service('dial'), service('bind'), link()]) command.addCommand(each);
  return command;
}

function service(kind: 'dial' | 'bind'): Command {
  return new Command(kind)
    .description(`explain whether its tunneler, or an SDK client, may ${kind} a service`)
    .argument('<file>', 'its configuration file')
    .argument('<service>', 'id or name of the service')
    .option('--identity <identity>', 'id or name of a client; default: the router itself, for its tunneler')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      examples('router', `why ${kind} router.yml web`, `why ${kind} router.yml web --identity anna`),
    )
    .action((file: string, name: string, { identity, json }: WhyOptions) =>
      explained(file, { kind, name, identity }, json),
    );
}

function link(): Command {
  return new Command('link')
    .description('explain whether a link joins it and another router, and why its dials fail')
    .argument('<file>', 'its configuration file')
    .argument('<router>', 'id or name of the other router')
    .option('--json', 'print JSON')
    .addHelpText('after', examples('router', 'why link router.yml edge-2'))
    .action((file: string, name: string, { json }: WhyOptions) => explained(file, { kind: 'link', name }, json));
}

async function explained(
  file: string,
  question: Readonly<Record<string, string | undefined>>,
  json: true | undefined,
): Promise<void> {
  process.exitCode = await ask(file, 'why', { arguments: question }, (answer) => {
    const { ok, summary, reasons } = answer as Explanation;
    print(json ? JSON.stringify(answer) : showReasons(summary, reasons));
    return ok ? Exit.Done : Exit.Failed;
  });
}
