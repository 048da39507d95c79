// `why`: explains whether an identity may dial or bind a service. Exit code 0 if it may, 1 if not, for scripts.

import { Argument, Command } from 'commander';
import { examples } from '#lib/commands/name.ts';
import { print } from '#lib/commands/print.ts';
import { connected, withLab } from './lab.ts';
import type { Connection } from './lab-client.ts';

interface Finding {
  readonly ok: boolean;
  readonly blocking?: boolean;
  readonly message: string;
  readonly remedy?: string;
}

interface Answer {
  readonly allowed: boolean;
  readonly identity: { readonly name: string };
  readonly service: { readonly name: string };
  readonly reasons: readonly Finding[];
}

interface WhyOptions extends Connection {
  readonly router?: string;
  readonly session?: string;
  readonly json?: true;
}

const TYPES = { dial: 'Dial', bind: 'Bind' } as const;

export function whyCommand(): Command {
  const command = new Command('why')
    .description(
      'explain whether an identity may dial or bind a service, and what is missing; exit code 1 if it may not',
    )
    .addArgument(new Argument('<type>', 'dial or bind').choices(['dial', 'bind']))
    .argument('<identity>', 'its id or name')
    .argument('<service>', 'its id or name')
    .option('--router <router>', 'only over this router')
    .option('--session <id>', 'only in this API session; default: all sessions of the identity')
    .option('--json', 'print the answer as JSON')
    .addHelpText('after', examples('sim', 'why dial anna web --ready sim.json', 'why bind server web --router edge-1'))
    .action((type: keyof typeof TYPES, identity: string, service: string, options: WhyOptions) => {
      const { router, session, json, ...connection } = options;
      return withLab(connection, async (client) => {
        const question = { identity, service, type: TYPES[type], router, session };
        const answer = (await client.ask('POST', '/lab/v1/why', question)) as Answer;
        print(json ? JSON.stringify(answer) : show(answer, type));
        if (!answer.allowed) process.exitCode = 1;
      });
    });
  return connected(command);
}

function show({ allowed, identity, service, reasons }: Answer, type: string): string {
  const verdict = `${identity.name} ${allowed ? 'may' : 'may not'} ${type} ${service.name}`;
  return [verdict, ...reasons.flatMap(lines)].join('\n');
}

/** Problems with an alternative that works are marked otherwise than those that deny access. */
function lines({ ok, blocking, message, remedy }: Finding): string[] {
  const mark = ok ? 'ok' : blocking ? 'NO' : 'no';
  return [`  ${mark}  ${message}`, ...(remedy === undefined ? [] : [`      → ${remedy}`])];
}
