// `network`: runs a simulator and real routers in one process, for tests in any language and for trying things out.

import { Command } from 'commander';
import { examples } from '#lib/commands/name.ts';
import type { Log } from '#lib/log/log.ts';
import { joinHostPort } from '#lib/net/address.ts';
import { endProcess } from '#lib/process/end-process.ts';
import { SystemClock } from '#lib/time/clock.ts';
import {
  type Served,
  type ServeOptions,
  serve,
  servedHere,
  simulatorOption,
  withServing,
} from '../controller-sim/commands/serving/serve.ts';
import type { NetworkRouter } from './interface.ts';

interface NetworkCommandOptions extends ServeOptions {
  readonly routers: number | string[];
  readonly username?: string;
  readonly password?: string;
  readonly seed?: string;
  readonly seedRandom?: number;
  readonly dashboard: boolean;
}

const DEFAULT_ROUTERS = 2;

export function networkCommand(): Command {
  const command = new Command('network')
    .description(
      'start a simulator and real routers with links in one process, on free ports and in memory, and run until stopped',
    )
    .option(
      '--routers <count or names>',
      'how many routers, named a, b, c, …; or their names: a,b',
      routersOf,
      DEFAULT_ROUTERS,
    )
    .addOption(simulatorOption('port', 'port of the simulator; default: a free one'))
    .addOption(simulatorOption('username', 'name of the administrator; default: admin'))
    .addOption(simulatorOption('password', 'password of the administrator; default: a random one'))
    .addOption(simulatorOption('seed', 'create the entities of this file (YAML or JSON, as `export` writes it)'))
    .addOption(simulatorOption('seedRandom'))
    .addOption(simulatorOption('dashboard'))
    .addHelpText('after', examples('sim', 'network --routers 3 --json', 'network --routers east,west'))
    .action(async (options: NetworkCommandOptions, command: Command) => {
      const { routersCheck } = await import('./network.ts');
      const problem = routersCheck(options.routers);
      if (problem !== undefined) command.error(`error: option '--routers <count or names>' is invalid. ${problem}`);
      const clock = new SystemClock();
      await endProcess(await serve(options, clock, (log) => open(options, log)), clock);
    });
  return withServing(command);
}

function routersOf(text: string): number | string[] {
  return /^\d+$/.test(text) ? Number(text) : text.split(',');
}

async function open(options: NetworkCommandOptions, log: Log): Promise<Served> {
  const { startNetwork } = await import('./network.ts');
  const { routers, port, username, password, seed, seedRandom, dashboard } = options;
  const network = await startNetwork({
    routers,
    log,
    dashboard,
    ...(port !== undefined && { port }),
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...(seed !== undefined && { seed }),
    ...(seedRandom !== undefined && { seedRandom }),
  });
  return {
    ...servedHere([network.simulator], () => network.close()),
    facts: { routers: network.routers.map(factsOf) },
    rows: Object.fromEntries(network.routers.map((router) => [`router ${router.name}`, factsOf(router).edge])),
  };
}

function factsOf({ id, name, edgeAddress, configFile }: NetworkRouter) {
  return { id, name, edge: `tls:${joinHostPort(edgeAddress.host, edgeAddress.port)}`, config: configFile };
}
