// `fault`: adds, lists and removes faults of a running simulator, and disconnects routers.

import { Command } from 'commander';
import { examples } from '#lib/commands/name.ts';
import { print } from '#lib/commands/print.ts';
import { BODY_SCHEMAS } from '#schemas/api/data-schemas.ts';
import { optionOf } from './fields.ts';
import { connected, withLab } from './lab.ts';
import type { Connection } from './lab-client.ts';

const FAULTS = '/lab/v1/faults';
/** Options that only faults of control channels have; without one and without `--kind`, a fault is one of requests. */
const OF_CONTROL = ['router', 'message', 'direction', 'drop', 'duplicate', 'reorder', 'reject'];

type Conditions = Readonly<Record<string, unknown>>;
interface Shown extends Conditions {
  readonly id: string;
  readonly hits: number;
  readonly kind: string;
}

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
    .description('add a fault: for requests, control messages, links, SDK connections, a proxy, or the store')
    .addHelpText(
      'after',
      examples(
        'sim',
        'fault add --operation listServices --status 503 --times 2 --ready sim.json',
        'fault add --operation listServices --status 429 --headers \'{"Retry-After":"2"}\' --ready sim.json',
        'fault add --kind link --router a --peer b --latency 100ms --jitter 20ms --ready sim.json',
        'fault add --kind sdk --cut --lasts 5s --ready sim.json',
        'fault add --kind store --full --ready sim.json',
      ),
    )
    .action((options: Connection & Conditions) => {
      const { ready, url, ca, username, password, ...conditions } = options;
      const kind = OF_CONTROL.some((name) => conditions[name] !== undefined) ? 'control' : 'http';
      return withLab({ ready, url, ca, username, password }, async (client) =>
        print(line((await client.ask('POST', FAULTS, { kind, ...conditions })) as Shown)),
      );
    });
  return connected(withFields(command, 'faultCreate'));
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
    .option('--scope <name>', 'only those of this scope')
    .addHelpText('after', examples('sim', 'fault clear --ready sim.json', 'fault clear --scope login --ready sim.json'))
    .action(({ scope, ...connection }: Connection & { readonly scope?: string }) =>
      withLab(connection, async (client) => {
        await client.ask('DELETE', scope === undefined ? FAULTS : `${FAULTS}?scope=${encodeURIComponent(scope)}`);
        print(scope === undefined ? 'removed all faults' : `removed the faults of ${scope}`);
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
  const shown = Object.entries(conditions).map(([name, value]) =>
    value === true ? name : `${name}=${typeof value === 'object' ? JSON.stringify(value) : String(value)}`,
  );
  return `${id}  ${kind}  ${shown.join(' ')}  ${hits} ${hits === 1 ? 'hit' : 'hits'}`;
}

function withFields(command: Command, body: string): Command {
  for (const [name, field] of Object.entries(BODY_SCHEMAS[body]?.properties ?? {}))
    command.addOption(optionOf(name, field));
  return command;
}
