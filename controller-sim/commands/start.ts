// `start`: runs the simulator as a process. One ready line on stdout, logs on stderr; SIGTERM and SIGINT stop it with
// exit code 0.

import { Command } from 'commander';
import { examples } from '#lib/commands/name.ts';
import { logFileProblem } from '#lib/log/daemon-log.ts';
import { endProcess } from '#lib/process/end-process.ts';
import { type Clock, SystemClock } from '#lib/time/clock.ts';
import {
  combinationProblem,
  dataFiles,
  nodesCheck,
  OPTION_CHECKS,
  type SimulatorOptions,
} from '../assembly/options.ts';
import type { Namespace } from '../events/events.ts';
import {
  checked,
  flaggedOptions,
  type ServeOptions,
  serve,
  servedHere,
  simulatorOption,
  withServing,
} from './serving/serve.ts';

interface StartOptions extends ServeOptions, Omit<SimulatorOptions, 'host' | 'port' | 'data' | 'log' | 'eventTypes'> {
  readonly nodes?: number;
  readonly events: Namespace[];
}

export function startCommand(): Command {
  const command = new Command('start').description('start the simulator and run until stopped');
  for (const name of flaggedOptions()) command.addOption(simulatorOption(name));
  command
    .option(
      '--nodes <count>',
      'start several controllers of one network, in this process and in memory, or with --store embedded',
      (text) => checked(nodesCheck, text.trim() === '' ? Number.NaN : Number(text)),
    )
    .addHelpText(
      'after',
      examples(
        'sim',
        'start --port 1280 --data sim.db --json',
        'start --data sim.db --password NEW_PASSWORD',
        'start --nodes 3 --json',
        'start --nodes 3 --store embedded --json',
        'start --seed network.yml',
      ),
    )
    .action(async (options: StartOptions, command: Command) => {
      const problem =
        storeProblem(options) ??
        memberProblem(options) ??
        combinationProblem({ ...options, eventTypes: options.events }) ??
        nodesProblem(options) ??
        logFileProblem(options.logFile, otherFiles(options));
      if (problem !== undefined) command.error(`error: ${problem}`);
      const clock = new SystemClock();
      await endProcess(await start(options, clock), clock);
    });
  return withServing(command);
}

/** Here and not in the parser, whose message would contain the password of the URL. */
function storeProblem({ store, nodes }: StartOptions): string | undefined {
  if (store === EMBEDDED)
    return nodes === undefined ? '--store embedded is for --nodes, whose controllers share a server' : undefined;
  const problem = store === undefined ? undefined : OPTION_CHECKS.store(store);
  return problem === undefined ? undefined : `option '--store <url>' is invalid. ${problem}`;
}

function nodesProblem({ nodes, data, store, cluster, seedRandom }: StartOptions): string | undefined {
  if (nodes === undefined) return undefined;
  if (seedRandom !== undefined) return '--seed-random works for one controller; leave out --nodes';
  if (cluster) return '--nodes starts the members of a cluster; leave out --cluster';
  if (data === undefined && (store === undefined || store === EMBEDDED)) return undefined;
  return '--nodes keeps its data in memory, or in a database of its own (--store embedded); with another --store, start each controller as a process of its own';
}

function memberProblem({ nodes, member }: StartOptions): string | undefined {
  if (nodes === undefined || member === undefined) return undefined;
  return '--nodes gives its controllers the ids ctrl1, ctrl2, …; leave out --member';
}

/** The files of other options. */
function otherFiles({ data, eventsFile }: StartOptions): (readonly [what: string, path: string])[] {
  const ofData = dataFiles(data).map((file) => ['a file of --data', file] as const);
  return eventsFile === undefined || eventsFile === '-' ? ofData : [...ofData, ['a file of --events-file', eventsFile]];
}

function start(options: StartOptions, clock: Clock): Promise<number> {
  const { json, readyFile, logLevel, logFormat, logFile, events, exitWithParent, exitWithStdin, ttl, ...rest } =
    options;
  const { nodes, ...own } = { ...rest, eventTypes: events };
  return serve(options, clock, async (log) => {
    const { ownIo } = await import('../assembly/own-io.ts');
    if (nodes === undefined) {
      const { startSimulator } = await import('../assembly/simulator.ts');
      const io = ownIo({ log, clock });
      const simulator = await startSimulator({ ...own, log, clock }, io);
      return servedHere([simulator], () => closeBoth(simulator, io.threads));
    }
    if (own.store === EMBEDDED) {
      const { startMembers } = await import('./serving/member-processes.ts');
      return startMembers(
        { nodes, options: own, logging: { logLevel, logFormat, ...(logFile !== undefined && { logFile }) } },
        { clock, log },
      );
    }
    const { startCluster } = await import('../assembly/nodes.ts');
    const io = ownIo({ log, clock });
    const cluster = await startCluster({ ...own, nodes, log, clock }, io);
    return servedHere(cluster.nodes, () => closeBoth(cluster, io.threads));
  });
}

/** The threads last: connections that end are theirs. */
async function closeBoth(served: Closable, threads: Closable | undefined): Promise<void> {
  await served.close();
  await threads?.close();
}

interface Closable {
  close(): Promise<void>;
}

/** The value of --store for a server of PostgreSQL that ends with the simulator. */
const EMBEDDED = 'embedded';
