// `why`: explains whether an identity may dial or bind a service, can log in or passes its posture checks, whether a
// session is valid, or a link joins two routers. Exit code 0 if it holds, 1 if not, for scripts.

import { Command } from 'commander';
import { examples } from '#lib/commands/name.ts';
import { print } from '#lib/commands/print.ts';
import { type Reason, showReasons } from '#lib/commands/reasons.ts';
import { connected, withLab } from './lab.ts';
import type { Connection } from './lab-client.ts';

interface AccessAnswer {
  readonly allowed: boolean;
  readonly identity: { readonly name: string };
  readonly service: { readonly name: string };
  readonly reasons: readonly Reason[];
}

interface Explanation {
  readonly ok: boolean;
  readonly summary: string;
  readonly reasons: readonly Reason[];
}

interface Output {
  readonly json?: true;
}

type AccessOptions = Connection & Output & { readonly router?: string; readonly session?: string };

const TYPES = { dial: 'Dial', bind: 'Bind' } as const;

export function whyCommand(): Command {
  const command = new Command('why')
    .description('explain a decision, with what is missing; exit code 1 if it does not hold')
    .addHelpText(
      'after',
      examples('sim', 'why dial anna web --ready sim.json', 'why login anna', 'why link edge-1 edge-2'),
    );
  for (const each of [access('dial'), access('bind'), login(), session(), posture(), link()]) command.addCommand(each);
  return command;
}

function access(type: keyof typeof TYPES): Command {
  const command = new Command(type)
    .description(`explain whether an identity may ${type} a service`)
    .argument('<identity>', 'its id or name')
    .argument('<service>', 'its id or name')
    .option('--router <router>', 'only over this router')
    .option('--session <id>', 'only in this API session; default: all sessions of the identity')
    .addHelpText(
      'after',
      examples('sim', `why ${type} anna web --ready sim.json`, `why ${type} anna web --router edge-1`),
    )
    .action((identity: string, service: string, options: AccessOptions) => {
      const { router, session, json, ...connection } = options;
      const question = { identity, service, type: TYPES[type], router, session };
      return answered(connection, json, '', question, (answer) => {
        const { allowed: ok, reasons, ...pair } = answer as AccessAnswer;
        return { ok, summary: `${pair.identity.name} ${ok ? 'may' : 'may not'} ${type} ${pair.service.name}`, reasons };
      });
    });
  return withOutput(command);
}

function login(): Command {
  const command = new Command('login')
    .description('explain whether an identity can log in')
    .argument('<identity>', 'its id or name')
    .addHelpText('after', examples('sim', 'why login anna --ready sim.json'))
    .action((identity: string, { json, ...connection }: Connection & Output) =>
      answered(connection, json, '/login', { identity }),
    );
  return withOutput(command);
}

function session(): Command {
  const command = new Command('session')
    .description('explain whether an API session is valid, or why and when it ended')
    .argument('<id>', 'the id of the session')
    .addHelpText('after', examples('sim', 'why session cm3x8k2v10001 --ready sim.json'))
    .action((id: string, { json, ...connection }: Connection & Output) =>
      answered(connection, json, '/session', { session: id }),
    );
  return withOutput(command);
}

function posture(): Command {
  const command = new Command('posture')
    .description('explain whether an identity passes the posture checks of its service policies')
    .argument('<identity>', 'its id or name')
    .option('--session <id>', 'only in this API session; default: one of all sessions is enough')
    .addHelpText('after', examples('sim', 'why posture anna --ready sim.json'))
    .action((identity: string, { json, session: id, ...connection }: AccessOptions) =>
      answered(connection, json, '/posture', { identity, session: id }),
    );
  return withOutput(command);
}

function link(): Command {
  const command = new Command('link')
    .description('explain whether a link joins two routers')
    .argument('<router>', 'its id or name')
    .argument('<other>', 'the router at the other end')
    .addHelpText('after', examples('sim', 'why link edge-1 edge-2 --ready sim.json'))
    .action((router: string, other: string, { json, ...connection }: Connection & Output) =>
      answered(connection, json, '/link', { router, other }),
    );
  return withOutput(command);
}

function withOutput(command: Command): Command {
  return connected(command.option('--json', 'print the answer as JSON'));
}

/** `path` is that of the operation below `/why`; `read` converts its answer. */
function answered(
  connection: Connection,
  json: true | undefined,
  path: string,
  question: object,
  read: (answer: unknown) => Explanation = (answer) => answer as Explanation,
): Promise<void> {
  return withLab(connection, async (client) => {
    const answer = await client.ask('POST', `/lab/v1/why${path}`, question);
    const { ok, summary, reasons } = read(answer);
    print(json ? JSON.stringify(answer) : showReasons(summary, reasons));
    if (!ok) process.exitCode = 1;
  });
}
