// `start`: runs the simulator as a process. One ready line on stdout, logs on stderr; SIGTERM and SIGINT stop it with
// exit code 0.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import { type Clock, SystemClock } from '#lib/clock.ts';
import { withLifetime } from '#lib/commands/lifetime.ts';
import { examples } from '#lib/commands/name.ts';
import { print, printError } from '#lib/commands/print.ts';
import { DaemonLog, logFileProblem } from '#lib/daemon-log.ts';
import { daemonSignals } from '#lib/daemon-signals.ts';
import { endProcess } from '#lib/end-process.ts';
import { describeError } from '#lib/errors.ts';
import { endOfLifetime, type Lifetime } from '#lib/lifetime.ts';
import { ListenError } from '#lib/listening.ts';
import type { LogLevel } from '#lib/log.ts';
import { keepCompiledCode } from '#lib/memory.ts';
import { type OptionCheck, path } from '#lib/options.ts';
import { releaseProgramPages } from '#lib/program-pages.ts';
import { stackDump } from '#lib/stack-dump.ts';
import { stopSignals } from '#lib/stop-signal.ts';
import { endChainVerification } from '#wire/client-chains.ts';
import type { SimulatorCluster } from '../assembly/nodes.ts';
import {
  CA_SUFFIX,
  combinationProblem,
  dataFiles,
  nodesCheck,
  OPTION_CHECKS,
  type SimulatorOptions,
} from '../assembly/options.ts';
import type { Simulator } from '../assembly/simulator.ts';
import { NAMESPACES, type Namespace } from '../events/events.ts';
import { seededText } from './seeded-text.ts';

interface StartOptions extends Lifetime {
  host: string;
  port?: number;
  data?: string;
  advertise: string[];
  username?: string;
  password?: string;
  cluster?: true;
  store?: string;
  member?: string;
  nodes?: number;
  console?: string;
  dashboard: boolean;
  dialRouters?: boolean;
  eventsFile?: string;
  events: Namespace[];
  seed?: string;
  json?: true;
  logLevel: LogLevel;
  logFormat: 'json' | 'text';
  logFile?: string;
}

/** The file with the certificates that clients should trust. */
interface CaFile {
  readonly file: string;
  remove(): void;
}

export function startCommand(): Command {
  const command = new Command('start')
    .description('start the simulator and run until stopped')
    .option('--host <address>', 'address to listen on', (text) => checked(OPTION_CHECKS.host, text), '127.0.0.1')
    .option('--port <port>', 'port to listen on; default: the port stored in the data file, else a free one', (text) =>
      checked(OPTION_CHECKS.port, text.trim() === '' ? Number.NaN : Number(text)),
    )
    .option('--data <file>', 'store all data in this file; default: in memory', (file) =>
      checked(OPTION_CHECKS.data, file),
    )
    .option(
      '--advertise <name>',
      'additional host name or address for clients; may be repeated',
      (name: string, names: string[]) => [...names, ...checked(OPTION_CHECKS.advertise, [name])],
      [],
    )
    .option(
      '--username <name>',
      'name of the administrator; default: the stored one, else admin. A later start can rename it',
      (name) => checked(OPTION_CHECKS.username, name),
    )
    .option(
      '--password <password>',
      'password of the administrator; default: generated and printed at the first start, then kept. A later start can set a new one',
      (password) => checked(OPTION_CHECKS.password, password),
    )
    .option(
      '--events-file <file>',
      'write events to this file, one JSON object per line; - for standard output',
      (file) => checked(OPTION_CHECKS.eventsFile, file),
    )
    .option(
      '--events <type>',
      `types of events to write: ${NAMESPACES.join(', ')}; may be repeated; default: all`,
      (type: string, types: Namespace[]) => [...types, ...checked(OPTION_CHECKS.eventTypes, [type as Namespace])],
      [],
    )
    .option('--cluster', 'act as the only member of a cluster')
    .option(
      '--store <url>',
      'store all data in this PostgreSQL database: all simulators with the same one are controllers of one network',
    )
    .option(
      '--member <id>',
      'id of this controller in --store; with that of an earlier start it keeps its port',
      (id) => checked(OPTION_CHECKS.member, id),
    )
    .option('--nodes <count>', 'start several controllers of one network in this process, in memory', (text) =>
      checked(nodesCheck, text.trim() === '' ? Number.NaN : Number(text)),
    )
    .option('--dial-routers', 'dial routers that listen for controllers (ctrl.listeners)')
    .option('--console <folder>', 'serve the built web console in this folder', (folder) =>
      checked(OPTION_CHECKS.console, folder),
    )
    .option('--no-dashboard', 'do not serve the page to see and control the simulator')
    .option(
      '--seed <file>',
      'create the entities of this file (YAML or JSON, as `export` writes it) that the data does not have',
      (file) => checked(OPTION_CHECKS.seed, file),
    )
    .option('--json', 'print the ready line as JSON')
    .addOption(
      new Option('--log-level <level>', 'least severe level to log')
        .choices(['trace', 'debug', 'info', 'warn', 'error', 'silent'])
        .default('info'),
    )
    .addOption(
      new Option('--log-format <format>', 'format of the log: json for machines, text for people')
        .choices(['json', 'text'])
        .default(process.stderr.isTTY ? 'text' : 'json', 'text on a terminal, else json'),
    )
    .option('--log-file <file>', 'append the log to this file instead of standard error', (file) => checked(path, file))
    .addHelpText(
      'after',
      examples(
        'sim',
        'start --port 1280 --data sim.db --json',
        'start --data sim.db --password NEW_PASSWORD',
        'start --nodes 3 --json',
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
  return withLifetime(command);
}

/** Here and not in the parser, whose message would contain the password of the URL. */
function storeProblem({ store }: StartOptions): string | undefined {
  const problem = store === undefined ? undefined : OPTION_CHECKS.store(store);
  return problem === undefined ? undefined : `option '--store <url>' is invalid. ${problem}`;
}

function nodesProblem({ nodes, data, store, cluster }: StartOptions): string | undefined {
  if (nodes === undefined) return undefined;
  if (cluster) return '--nodes starts the members of a cluster; leave out --cluster';
  if (data === undefined && store === undefined) return undefined;
  return '--nodes keeps its data in memory; with --store, start each controller as a process of its own';
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

async function start(options: StartOptions, clock: Clock): Promise<number> {
  const { first: stop } = stopSignals();
  const signals = daemonSignals();
  const { json, logLevel, logFormat, logFile, events, exitWithParent, exitWithStdin, ttl, ...rest } = options;
  const ended = endOfLifetime({ exitWithParent, exitWithStdin, ttl }, clock);
  let daemonLog: DaemonLog;
  try {
    daemonLog = new DaemonLog({ level: logLevel, format: logFormat, clock, file: logFile });
  } catch (error) {
    printError(`the simulator cannot start: the log file ${logFile}: ${describeError(error)}`);
    return 1;
  }
  const { log } = daemonLog;
  endChainVerification(log);
  signals.onHangup = () => daemonLog.reopen();
  signals.onQuit = () => daemonLog.report('diagnostic report', stackDump(clock).split('\n'));
  let cluster: SimulatorCluster;
  try {
    cluster = await startAll({ ...rest, eventTypes: events, log, clock });
  } catch (error) {
    printError(`the simulator cannot start: ${explain(error, options)}`);
    await daemonLog.close();
    return 1;
  }
  signals.onHangup = () => {
    daemonLog.reopen();
    for (const simulator of cluster.nodes) simulator.reopenEventsFile();
  };
  const [simulator] = cluster.nodes;
  let ca: CaFile;
  try {
    ca = writeCa(simulator.ca, options.data);
  } catch (error) {
    await cluster.close();
    printError(`the simulator cannot start: could not write its certificate authorities: ${describeError(error)}`);
    await daemonLog.close();
    return 1;
  }
  const { data } = options;
  print(json ? JSON.stringify(readyLine(cluster.nodes, ca.file, data)) : readyText(cluster.nodes, ca.file, data));
  keepCompiledCode();
  releaseProgramPages();
  const why = await Promise.race([stop.then((signal) => ({ signal })), ended.then((reason) => ({ reason }))]);
  log.info(why, 'simulator stops');
  await cluster.close();
  ca.remove();
  await daemonLog.close();
  return 0;
}

type StartedOptions = SimulatorOptions & { readonly nodes?: number };

/** One simulator, or the members of a cluster. */
async function startAll({ nodes, ...options }: StartedOptions): Promise<SimulatorCluster> {
  const { SimulatorCluster, startCluster } = await import('../assembly/nodes.ts');
  if (nodes !== undefined) return startCluster({ ...options, nodes });
  const { startSimulator } = await import('../assembly/simulator.ts');
  return new SimulatorCluster([await startSimulator(options)]);
}

function readyLine(
  [simulator, ...others]: readonly [Simulator, ...Simulator[]],
  ca: string,
  data: string | undefined,
): Record<string, unknown> {
  const { managementUrl, clientUrl, consoleUrl, dashboardUrl, controlAddress, username, password, port, controllerId } =
    simulator;
  return {
    event: 'ready',
    management: managementUrl,
    client: clientUrl,
    ...(consoleUrl !== undefined && { console: consoleUrl }),
    ...(dashboardUrl !== undefined && { dashboard: dashboardUrl }),
    ctrl: controlAddress,
    username,
    password: password ?? null,
    ...(password === undefined && { passwordNote: keptPassword(data) }),
    ca,
    port,
    controllerId,
    ...(others.length > 0 && { others: others.map(addressesOf) }),
    pid: process.pid,
    ...(simulator.seeded && { seeded: simulator.seeded }),
  };
}

/** The addresses of a further member. */
function addressesOf({ managementUrl, clientUrl, controlAddress, port, controllerId }: Simulator) {
  return { management: managementUrl, client: clientUrl, ctrl: controlAddress, port, controllerId };
}

function readyText(
  [simulator, ...others]: readonly [Simulator, ...Simulator[]],
  ca: string,
  data: string | undefined,
): string {
  const { managementUrl, clientUrl, consoleUrl, dashboardUrl, controlAddress, username, password } = simulator;
  const rows = {
    management: managementUrl,
    client: clientUrl,
    ...(consoleUrl !== undefined && { console: consoleUrl }),
    ...(dashboardUrl !== undefined && { dashboard: dashboardUrl }),
    ctrl: controlAddress,
    username,
    password: password ?? `(${keptPassword(data)})`,
    ca,
    ...Object.fromEntries(others.map(({ controllerId, baseUrl }) => [controllerId, baseUrl])),
    ...(simulator.seeded && { seed: seededText(simulator.seeded) }),
  };
  return `the simulator is ready\n${Object.entries(rows)
    .map(([name, value]) => `  ${name.padEnd(12)}${value}`)
    .join('\n')}`;
}

/** The data contains only its hash. */
function keptPassword(data: string | undefined): string {
  return `set by an earlier start with ${data ?? 'this store'}; use --password NEW_PASSWORD to set a new one`;
}

/** Beside the data file, or in a temporary directory that is deleted with the simulator. */
function writeCa(pem: string, data: string | undefined): CaFile {
  if (data !== undefined) {
    const file = resolve(`${data}${CA_SUFFIX}`);
    writeFileSync(file, pem);
    return { file, remove: () => undefined };
  }
  const directory = mkdtempSync(join(tmpdir(), 'edgeweave-sim-'));
  const file = join(directory, 'ca.pem');
  writeFileSync(file, pem);
  return { file, remove: () => rmSync(directory, { recursive: true, force: true }) };
}

function explain(error: unknown, { host, port, data }: StartOptions): string {
  if (error instanceof ListenError && error.code === 'EADDRINUSE') {
    const which = port ? `port ${port}` : `the port stored in ${data ?? 'the store'}`;
    const { holder } = error.detail;
    return `${which} at ${host} is in use${holder ? ` by ${holder}` : ''}; free it, or choose another port with --port`;
  }
  return describeError(error);
}

/** Returns the value if `startSimulator` accepts it. */
function checked<T>(check: OptionCheck, value: T): T {
  const problem = check(value);
  if (problem !== undefined) throw new InvalidArgumentError(problem);
  return value;
}
