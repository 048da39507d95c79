// `proxy`: opens, lists and closes TCP proxies of a running simulator, for faults of connections.

import { Command } from 'commander';
import { inColumns } from '#lib/commands/columns.ts';
import { examples } from '#lib/commands/name.ts';
import { print } from '#lib/commands/print.ts';
import { joinHostPort } from '#lib/net/address.ts';
import { withFields } from './fields.ts';
import { connected, withLab } from './lab.ts';
import type { Connection } from './lab-client.ts';

const PROXIES = '/lab/v1/proxies';

interface Shown {
  readonly name: string;
  readonly host: string;
  readonly port: number;
  readonly to: string;
  readonly connections: number;
}

export function proxyCommand(): Command {
  return new Command('proxy')
    .description('TCP proxies of a running simulator, whose connections faults slow down, stall and cut')
    .addCommand(openCommand())
    .addCommand(listCommand())
    .addCommand(closeCommand())
    .addHelpText(
      'after',
      examples(
        'sim',
        'proxy open db --to 127.0.0.1:5432 --ready sim.json',
        'fault add --kind proxy --proxy db --latency 200ms --ready sim.json',
      ),
    );
}

function openCommand(): Command {
  const command = new Command('open')
    .description('open a proxy, and print where it listens')
    .argument('<name>', '1 to 100 letters, digits, dots, colons, hyphens and underscores')
    .addHelpText('after', examples('sim', 'proxy open db --to 127.0.0.1:5432 --ready sim.json'))
    .action((name: string, options: Connection & { readonly to?: string; readonly port?: number }) => {
      const { to, port, ...connection } = options;
      if (to === undefined) command.error('error: --to HOST:PORT is missing');
      return withLab(connection, async (client) => {
        const proxy = (await client.ask('POST', PROXIES, { name, to, port })) as Shown;
        print(joinHostPort(proxy.host, proxy.port));
      });
    });
  return connected(withFields(command, 'proxyCreate', ['name']));
}

function listCommand(): Command {
  const command = new Command('list')
    .description('list the proxies, those in front of routers too')
    .addHelpText('after', examples('sim', 'proxy list --ready sim.json'))
    .action((connection: Connection) =>
      withLab(connection, async (client) => {
        const proxies = (await client.ask('GET', PROXIES)) as Shown[];
        const rows = proxies.map(({ name, host, port, to, connections }) => [
          name,
          joinHostPort(host, port),
          `to ${to || 'nowhere yet'}`,
          `${connections} open`,
        ]);
        for (const row of inColumns(rows)) print(row);
      }),
    );
  return connected(command);
}

function closeCommand(): Command {
  const command = new Command('close')
    .description('close a proxy and reset its connections')
    .argument('<name>', 'its name, as `proxy list` prints it')
    .addHelpText('after', examples('sim', 'proxy close db --ready sim.json'))
    .action((name: string, connection: Connection) =>
      withLab(connection, async (client) => {
        await client.ask('DELETE', `${PROXIES}/${encodeURIComponent(name)}`);
        print(`closed ${name}`);
      }),
    );
  return connected(command);
}
