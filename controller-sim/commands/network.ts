// `service`, `identity`: what tests need in a running network, in one command each.

import { Command, InvalidArgumentError } from 'commander';
import { examples } from '#lib/commands/name.ts';
import { print, printError } from '#lib/commands/print.ts';
import { writeFileAtomic } from '#lib/files/atomic-file.ts';
import { joinHostPort, splitHostPort } from '#lib/net/address.ts';
import { holdStopSignals } from '#lib/process/stop-signal.ts';
import { connected, withLab } from './lab.ts';
import type { Connection } from './lab-client.ts';

interface ServiceOptions extends Connection {
  readonly router: string;
  readonly to: { readonly address: string; readonly port: number };
  readonly encryption: boolean;
}

export function serviceCommand(): Command {
  const command = new Command('service')
    .description(
      'create a service that a router hosts and everybody may dial; in a `network`, print a TCP address that leads to it',
    )
    .argument('<name>', 'its name')
    .requiredOption('--router <router>', 'id or name of the edge router that hosts it')
    .requiredOption('--to <host:port>', 'the server, as the router reaches it; or its port on 127.0.0.1', server)
    .option('--no-encryption', 'do not encrypt the data from end to end')
    .addHelpText('after', examples('sim', 'service echo --router b --to 7000 --ready sim.json'))
    .action((name: string, { router, to, encryption, ...connection }: ServiceOptions) =>
      withLab(connection, async (client) => {
        const body = { name, host: router, ...to, encryptionRequired: encryption };
        const { host, dial } = await client.call('createLabService', body);
        print(dial ? joinHostPort(dial.host, dial.port) : `created ${name}; ${host} hosts it`);
      }),
    );
  return connected(command);
}

function server(text: string): ServiceOptions['to'] {
  try {
    const { host, port } = splitHostPort(/^\d+$/.test(text) ? `127.0.0.1:${text}` : text);
    return { address: host, port };
  } catch {
    throw new InvalidArgumentError('Use HOST:PORT, or a port.');
  }
}

export function identityCommand(): Command {
  const command = new Command('identity')
    .description('enroll an identity, which is created if it is missing, and write its file, which any SDK loads')
    .argument('<name>', 'its name')
    .option('--output <file>', 'write the file here; default: standard output')
    .option(
      '--role <attribute>',
      'role attribute of a new identity; may be repeated',
      (role, roles: string[]) => [...roles, role],
      [],
    )
    .addHelpText('after', examples('sim', 'identity anna --output anna.json --ready sim.json'))
    .action((name: string, { output, role, ...connection }: Connection & { output?: string; role: string[] }) =>
      withLab(connection, async (client) => {
        await using _ = holdStopSignals((signal) => printError(`${signal}: the file of ${name} is being written`));
        const identity = await client.call('enrollIdentity', { name, roleAttributes: role });
        if (output === undefined) print(JSON.stringify(identity));
        else await writeFileAtomic(output, `${JSON.stringify(identity)}\n`); // only its owner can read it
      }),
    );
  return connected(command);
}
