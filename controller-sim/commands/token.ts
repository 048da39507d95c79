// `token`: prints the one-time enrollment token of a router or an identity of a running simulator.

import { Command } from 'commander';
import { examples } from '#lib/commands/name.ts';
import { print } from '#lib/commands/print.ts';
import { ProjectError } from '#lib/errors.ts';
import { connected, withLab } from './lab.ts';
import type { Connection, LabClient } from './lab-client.ts';

/** Lists of the management API whose entities enroll with a token. */
const LISTS = ['edge-routers', 'transit-routers', 'identities'] as const;

interface Entity {
  readonly name: string;
  readonly enrollmentJwt?: string | null;
  /** Identities have one for each method. */
  readonly enrollment?: Readonly<Record<string, { readonly jwt?: string } | undefined>>;
}

export function tokenCommand(): Command {
  const command = new Command('token')
    .description('print the enrollment token of a router or an identity that has not enrolled yet')
    .argument('<name>', 'name of an edge router, a transit router or an identity')
    .addHelpText('after', examples('sim', 'token edge-1 --ready sim.json > edge-1.jwt'))
    .action((name: string, connection: Connection) =>
      withLab(connection, async (client) => print(await tokenOf(name, client))),
    );
  return connected(command);
}

/** The identity of a router's tunneler has the router's name, and no token. */
async function tokenOf(name: string, client: LabClient): Promise<string> {
  let isKnown = false;
  for (const list of LISTS) {
    const filter = encodeURIComponent(`name = ${JSON.stringify(name)}`);
    const [entity] = (await client.ask('GET', `/edge/management/v1/${list}?filter=${filter}`)) as Entity[];
    if (!entity) continue;
    isKnown = true;
    const token = entity.enrollmentJwt ?? Object.values(entity.enrollment ?? {}).find((each) => each?.jwt)?.jwt;
    if (token) return token;
  }
  throw new ProjectError(
    'TOKEN',
    isKnown
      ? `${name} has no enrollment token: it has enrolled, or does not enroll with a token; re-enroll it to get one`
      : `no router and no identity has the name ${name}`,
  );
}
