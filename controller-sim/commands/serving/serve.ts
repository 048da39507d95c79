// Runs simulators as a process: log, ready line, signals, end. `start` and `network` use it.

import { lstatSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { lifetimeOf, withLifetime } from '#lib/commands/lifetime.ts';
import { print, printError } from '#lib/commands/print.ts';
import { describeError, InvariantError } from '#lib/errors.ts';
import { writeFileAtomic } from '#lib/files/atomic-file.ts';
import { DaemonLog } from '#lib/log/daemon-log.ts';
import type { Log, LogLevel } from '#lib/log/log.ts';
import { ListenError } from '#lib/net/listening.ts';
import { type OptionCheck, path } from '#lib/options.ts';
import { onSignal, surviveSignals } from '#lib/process/daemon-signals.ts';
import { endOfLifetime, type Lifetime } from '#lib/process/lifetime.ts';
import { keepCompiledCode } from '#lib/process/memory.ts';
import { releaseProgramPages } from '#lib/process/program-pages.ts';
import { ServiceManager } from '#lib/process/service-manager.ts';
import { stackDump } from '#lib/process/stack-dump.ts';
import { stopSignals } from '#lib/process/stop-signal.ts';
import type { Clock } from '#lib/time/clock.ts';
import { endChainVerification } from '#wire/connection/client-chains.ts';
import { CA_SUFFIX, OPTIONS, type OptionRow, type SimulatorOptions } from '../../assembly/options.ts';
import type { Simulator } from '../../assembly/simulator.ts';
import { seededText } from '../seeded-text.ts';

export interface ServeOptions extends Lifetime {
  readonly json?: true;
  /** Gets the ready line, in addition to standard output. */
  readonly readyFile?: string;
  readonly logLevel: LogLevel;
  readonly logFormat: 'json' | 'text';
  readonly logFile?: string;
  readonly host?: string;
  readonly port?: number;
  readonly data?: string;
}

/** The facts about a simulator in its ready line. */
export type ServedSimulator = Pick<
  Simulator,
  | 'baseUrl'
  | 'managementUrl'
  | 'clientUrl'
  | 'consoleUrl'
  | 'dashboardUrl'
  | 'labUrl'
  | 'labToken'
  | 'controlAddress'
  | 'ca'
  | 'port'
  | 'controllerId'
  | 'username'
  | 'password'
  | 'seeded'
>;

/** The simulators that this process serves, and further facts about them. */
export interface Served {
  readonly nodes: readonly [ServedSimulator, ...ServedSimulator[]];
  /** Further fields of the ready line, and further rows of its text. */
  readonly facts?: Readonly<Record<string, unknown>>;
  readonly rows?: Readonly<Record<string, string>>;
  /** The certificates for clients are beside this file, which ends with the simulators. */
  readonly beside?: string;
  /** Resolves with the reason when nothing is left to serve. */
  readonly ended?: Promise<string>;
  /** Continues in new files after the old ones were renamed. */
  onHangup(): void;
  close(): Promise<void>;
}

/** Simulators of this process. `close` closes them. */
export function servedHere(nodes: readonly [Simulator, ...Simulator[]], close: () => Promise<void>): Served {
  const [first, ...others] = nodes;
  first.lab.member.hasProcess = others.length === 0;
  const onHangup = () => {
    for (const simulator of nodes) simulator.reopenEventsFile();
  };
  return { nodes, onHangup, close };
}

/** Whoever writes the file that clients trust reads what they send, so it is never created by the umask alone. */
const PUBLIC = 0o644;

/** The file with the certificates that clients should trust. */
interface CaFile {
  readonly file: string;
  remove(): void;
}

/** Adds the options of a process that serves. */
export function withServing(command: Command): Command {
  command
    .option('--json', 'print the ready line as JSON')
    .addOption(
      setBy(
        'READY_FILE',
        '--ready-file <file>',
        'write the ready line as JSON to this file too, for its owner only; it is deleted at the end',
      ).argParser((file) => checked(path, file)),
    )
    .addOption(
      setBy('LOG_LEVEL', '--log-level <level>', 'least severe level to log')
        .choices(['trace', 'debug', 'info', 'warn', 'error', 'silent'])
        .default('info'),
    )
    .addOption(
      new Option('--log-format <format>', 'format of the log: json for machines, text for people')
        .choices(['json', 'text'])
        .default(process.stderr.isTTY ? 'text' : 'json', 'text on a terminal, else json'),
    )
    .option('--log-file <file>', 'append the log to this file instead of standard error', (file) =>
      checked(path, file),
    );
  return withLifetime(command);
}

/**
 * An option that the variable `EDGEWEAVE_SIM_…` sets too: services of CI systems have variables, and no arguments. An
 * empty variable is not set.
 */
export function setBy(variable: string, flags: string, description: string): Option {
  const option = new Option(flags, description);
  const name = variableName(variable);
  return process.env[name] === '' ? option : option.env(name);
}

export function variableName(variable: string): string {
  return `EDGEWEAVE_SIM_${variable}`;
}

/** The flag of an option of `startSimulator`. `help` replaces that of the table. */
export function simulatorOption(name: keyof SimulatorOptions, help?: string): Option {
  const { check, flag }: OptionRow = OPTIONS[name];
  if (!flag) throw new InvariantError(`the option ${name} has no flag`);
  const { flags, form, variable } = flag;
  const text = help ?? flag.help;
  const option = variable === undefined ? new Option(flags, text) : setBy(variable, flags, text);
  if (flag.default !== undefined) option.default(flag.default);
  if (form === 'switch' || form === 'secret') return option;
  if (form === 'list' || form === 'commas')
    return option.default([]).argParser((value: string, before: string[]) => {
      const values = form === 'commas' ? value.split(',') : [value];
      return [...before, ...checked(check, values)];
    });
  if (form === 'integer') return option.argParser((value) => checked(check, Number(value.trim() || Number.NaN)));
  return option.argParser((value) => checked(check, value));
}

/** The options of `startSimulator` that have flags, in the order of the help. */
export function flaggedOptions(): (keyof SimulatorOptions)[] {
  return Object.entries<OptionRow>(OPTIONS).flatMap(([name, { flag }]) =>
    flag ? [name as keyof SimulatorOptions] : [],
  );
}

/** Returns the value if `startSimulator` accepts it. */
export function checked<T>(check: OptionCheck, value: T): T {
  const problem = check(value);
  if (problem !== undefined) throw new InvalidArgumentError(problem);
  return value;
}

/** Resolves with the exit code after a signal or the end of its lifetime. */
export async function serve(options: ServeOptions, clock: Clock, open: (log: Log) => Promise<Served>): Promise<number> {
  const { first: stop } = stopSignals();
  surviveSignals();
  const { json, readyFile, logLevel, logFormat, logFile, data } = options;
  const ended = endOfLifetime(lifetimeOf(options), clock);
  let daemonLog: DaemonLog;
  try {
    daemonLog = new DaemonLog({ level: logLevel, format: logFormat, clock, file: logFile });
  } catch (error) {
    printError(`the simulator cannot start: the log file ${logFile}: ${describeError(error)}`);
    return 1;
  }
  const { log } = daemonLog;
  const manager = new ServiceManager({ clock, log });
  const end = async () => {
    manager.close();
    await daemonLog.close();
  };
  endChainVerification(log);
  onSignal('SIGHUP', () => daemonLog.reopen());
  onSignal('SIGQUIT', () => daemonLog.report('diagnostic report', stackDump(clock).split('\n')));
  let served: Served;
  try {
    removeReadyFile(readyFile); // of a start that was killed
    served = await open(log);
  } catch (error) {
    printError(`the simulator cannot start: ${explain(error, options)}`);
    await end();
    return 1;
  }
  onSignal('SIGHUP', () => served.onHangup());
  const [simulator] = served.nodes;
  let ca: CaFile;
  try {
    ca = await writeCa(simulator.ca, data ?? readyFile ?? served.beside);
    if (readyFile !== undefined)
      await writeFileAtomic(readyFile, `${JSON.stringify(readyLine(served, ca.file, data))}\n`);
  } catch (error) {
    await served.close();
    printError(`the simulator cannot start: ${describeError(error)}`);
    await end();
    return 1;
  }
  print(json ? JSON.stringify(readyLine(served, ca.file, data)) : readyText(served, ca.file, data));
  manager.ready(() => simulator.baseUrl);
  keepCompiledCode();
  releaseProgramPages();
  const failed = served.ended?.then((failure) => ({ failure }));
  const why = await Promise.race([
    stop.then((signal) => ({ signal })),
    ended.then((reason) => ({ reason })),
    ...(failed ? [failed] : []),
  ]);
  log.info(why, 'simulator stops');
  manager.stopping(0);
  removeReadyFile(readyFile);
  await served.close();
  ca.remove();
  await end();
  return 'failure' in why ? 1 : 0;
}

function readyLine({ nodes: [simulator, ...others], facts }: Served, ca: string, data: string | undefined) {
  const { managementUrl, clientUrl, consoleUrl, dashboardUrl, labUrl, labToken, controlAddress } = simulator;
  const { username, password, port, controllerId } = simulator;
  return {
    event: 'ready',
    management: managementUrl,
    client: clientUrl,
    ...(consoleUrl !== undefined && { console: consoleUrl }),
    ...(dashboardUrl !== undefined && { dashboard: dashboardUrl }),
    ...(labUrl !== undefined && { lab: labUrl, labToken }),
    ctrl: controlAddress,
    username,
    password: password ?? null,
    ...(password === undefined && { passwordNote: keptPassword(data) }),
    ca,
    caPem: simulator.ca, // for clients that do not have this file system
    port,
    controllerId,
    ...(others.length > 0 && { others: others.map(addressesOf) }),
    pid: process.pid,
    ...facts,
    ...(simulator.seeded && { seeded: simulator.seeded }),
  };
}

/** The addresses of a further member. */
function addressesOf({ managementUrl, clientUrl, controlAddress, port, controllerId }: ServedSimulator) {
  return { management: managementUrl, client: clientUrl, ctrl: controlAddress, port, controllerId };
}

function readyText(
  { nodes: [simulator, ...others], rows: further }: Served,
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
    ...further,
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

/** Beside the file of the data or of the ready line, or in a temporary directory that is deleted with the simulator. */
async function writeCa(pem: string, beside: string | undefined): Promise<CaFile> {
  if (beside !== undefined) {
    const file = resolve(`${beside}${CA_SUFFIX}`);
    await writeFileAtomic(file, pem, { mode: PUBLIC });
    return { file, remove: () => undefined };
  }
  const directory = mkdtempSync(join(tmpdir(), 'edgeweave-sim-'));
  const file = join(directory, 'ca.pem');
  await writeFileAtomic(file, pem, { mode: PUBLIC });
  return { file, remove: () => rmSync(directory, { recursive: true, force: true }) };
}

/** Leaves devices and pipes alone. */
function removeReadyFile(file: string | undefined): void {
  if (file !== undefined && lstatSync(file, { throwIfNoEntry: false })?.isFile()) rmSync(file, { force: true });
}

function explain(error: unknown, { host = '127.0.0.1', port, data }: ServeOptions): string {
  if (error instanceof ListenError && error.code === 'EADDRINUSE') {
    const which = port ? `port ${port}` : `the port stored in ${data ?? 'the store'}`;
    const { holder } = error.detail;
    return `${which} at ${host} is in use${holder ? ` by ${holder}` : ''}; free it, or choose another port with --port`;
  }
  return describeError(error);
}
