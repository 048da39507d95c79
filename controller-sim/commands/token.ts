// `token`: prints the one-time enrollment token of a router or an identity of a running simulator.

import { Command } from 'commander';
import { examples } from '#lib/commands/name.ts';
import { print } from '#lib/commands/print.ts';
import { connected, withLab } from './lab.ts';
import type { Connection } from './lab-client.ts';

export function tokenCommand(): Command {
  const command = new Command('token')
    .description('print the enrollment token of a router or an identity that has not enrolled yet')
    .argument('<name>', 'name of an edge router, a transit router or an identity')
    .addHelpText('after', examples('sim', 'token edge-1 --ready sim.json > edge-1.jwt'))
    .action((name: string, connection: Connection) =>
      withLab(connection, async (client) => {
        const { token } = (await client.ask('GET', `/lab/v1/tokens/${encodeURIComponent(name)}`)) as { token: string };
        print(token);
      }),
    );
  return connected(command);
}
