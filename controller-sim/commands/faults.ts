// `fault`: makes a running simulator delay, reject or cut requests, lose or delay control messages, and disconnect routers.

import { Command, InvalidArgumentError, Option } from 'commander';
import { examples } from '#lib/commands/name.ts';
import { print } from '#lib/commands/print.ts';
import { connected, withLab } from './lab.ts';
import type { Connection } from './lab-client.ts';

const FAULTS = '/lab/v1/faults';
/** Options of control channels; others belong to requests. */
const OF_CONTROL = ['router', 'message', 'direction', 'drop', 'reject'] as const;
const OF_REQUESTS = ['method', 'path', 'operation', 'identity', 'status', 'code', 'close', 'truncate'] as const;

interface Conditions {
  readonly method?: string;
  readonly path?: string;
  readonly operation?: string;
  readonly identity?: string;
  readonly router?: string;
  readonly message?: string;
  readonly direction?: string;
  readonly delay?: string;
  readonly status?: number;
  readonly code?: string;
  readonly close?: true;
  readonly truncate?: true;
  readonly drop?: true;
  readonly reject?: true;
  readonly times?: number;
  readonly probability?: number;
}

type Shown = Conditions & { readonly id: string; readonly hits: number; readonly kind: string };

export function faultCommand(): Command {
  return new Command('fault')
    .description('let a running simulator fail on purpose')
    .addCommand(addCommand())
    .addCommand(listCommand())
    .addCommand(removeCommand())
    .addCommand(clearCommand())
    .addCommand(disconnectCommand())
    .addHelpText(
      'after',
      examples(
        'sim',
        'fault add --operation listServices --status 503 --times 2 --ready sim.json',
        'fault add --path /edge/client/v1 --delay 2s --ready sim.json',
        'fault add --message Route --direction out --drop --ready sim.json',
        'fault disconnect ROUTER --ready sim.json',
      ),
    );
}

function addCommand(): Command {
  const command = new Command('add')
    .description('add a fault: for requests to the APIs, or for messages of control channels')
    .option('--method <method>', 'only requests with this method')
    .option('--path <path>', 'only requests whose path begins with this; with * for any characters, the whole path')
    .option('--operation <id>', 'only requests of this operation; `operations` lists them')
    .option('--identity <name>', 'only requests of this identity (id or name)')
    .option('--delay <duration>', 'wait before the request or message is handled, for example 500ms')
    .option('--status <status>', 'answer with this status, 400 to 599', number)
    .option('--code <code>', 'answer with this error code, for example NOT_FOUND')
    .option('--close', 'close the connection without an answer')
    .option('--truncate', 'close the connection after half of the answer')
    .option('--router <name>', 'only the control channel of this router (id or name)')
    .option('--message <type>', 'only messages of this content type, for example Route')
    .addOption(
      new Option('--direction <direction>', 'only messages from the router (in) or to it (out)').choices(['in', 'out']),
    )
    .option('--drop', 'lose the message')
    .option('--reject', 'reject new connections of the router')
    .option('--times <number>', 'how many requests or messages; default: all', number)
    .option('--probability <number>', '0 to 1; default: 1', number)
    .addHelpText('after', examples('sim', 'fault add --operation listServices --status 503 --times 2 --ready sim.json'))
    .action((options: Connection & Conditions) => {
      const { ready, url, ca, username, password, ...conditions } = options;
      const own = OF_CONTROL.find((name) => conditions[name] !== undefined);
      const other = OF_REQUESTS.find((name) => conditions[name] !== undefined);
      if (own && other)
        command.error(`error: --${own} is for control channels, --${other} for requests; use one of them`);
      const body = { kind: own ? 'control' : 'http', ...conditions };
      return withLab({ ready, url, ca, username, password }, async (client) =>
        print(line((await client.ask('POST', FAULTS, body)) as Shown)),
      );
    });
  return connected(command);
}

function listCommand(): Command {
  const command = new Command('list')
    .description('list the faults, the oldest first, with the number of their hits')
    .addHelpText('after', examples('sim', 'fault list --ready sim.json'))
    .action((connection: Connection) =>
      withLab(connection, async (client) => {
        for (const fault of (await client.ask('GET', FAULTS)) as Shown[]) print(line(fault));
      }),
    );
  return connected(command);
}

function removeCommand(): Command {
  const command = new Command('remove')
    .description('remove a fault')
    .argument('<id>', 'its id, as `fault list` prints it')
    .addHelpText('after', examples('sim', 'fault remove f1 --ready sim.json'))
    .action((id: string, connection: Connection) =>
      withLab(connection, async (client) => {
        await client.ask('DELETE', `${FAULTS}/${encodeURIComponent(id)}`);
        print(`removed ${id}`);
      }),
    );
  return connected(command);
}

function clearCommand(): Command {
  const command = new Command('clear')
    .description('remove all faults')
    .addHelpText('after', examples('sim', 'fault clear --ready sim.json'))
    .action((connection: Connection) =>
      withLab(connection, async (client) => {
        await client.ask('DELETE', FAULTS);
        print('removed all faults');
      }),
    );
  return connected(command);
}

function disconnectCommand(): Command {
  const command = new Command('disconnect')
    .description('close the control channel of a router, which connects again')
    .argument('<router>', 'its id or name')
    .addHelpText('after', examples('sim', 'fault disconnect ROUTER --ready sim.json'))
    .action((router: string, connection: Connection) =>
      withLab(connection, async (client) => {
        await client.ask('POST', `/lab/v1/routers/${encodeURIComponent(router)}/disconnect`);
        print(`disconnected ${router}`);
      }),
    );
  return connected(command);
}

/** `f1  http  operation=listServices status=503 times=2  0 hits` */
function line({ id, hits, kind, ...conditions }: Shown): string {
  const shown = Object.entries(conditions).map(([name, value]) => (value === true ? name : `${name}=${value}`));
  return `${id}  ${kind}  ${shown.join(' ')}  ${hits} ${hits === 1 ? 'hit' : 'hits'}`;
}

function number(text: string): number {
  const value = text.trim() === '' ? Number.NaN : Number(text);
  if (Number.isNaN(value)) throw new InvalidArgumentError('Use a number.');
  return value;
}
