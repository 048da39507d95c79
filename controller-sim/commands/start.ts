// `start`: the simulator as a process. One ready line on stdout, logs on stderr; SIGTERM and SIGINT stop it with exit code 0.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import { hostProblem } from '#lib/address.ts';
import { type Clock, SystemClock } from '#lib/clock.ts';
import { examples } from '#lib/command-name.ts';
import { DaemonLog } from '#lib/daemon-log.ts';
import { daemonSignals } from '#lib/daemon-signals.ts';
import { endProcess } from '#lib/end-process.ts';
import { describeError } from '#lib/errors.ts';
import { ListenError } from '#lib/listening.ts';
import type { LogLevel } from '#lib/log.ts';
import { stopSignals } from '#lib/stop-signal.ts';
import { NAMESPACES, type Namespace, namespaceOf } from '../events/events.ts';
import { type Simulator, startSimulator } from '../simulator.ts';

interface StartOptions {
  host: string;
  port?: number;
  data?: string;
  advertise: string[];
  username?: string;
  password?: string;
  cluster?: true;
  console?: string;
  dialRouters?: boolean;
  eventsFile?: string;
  events: Namespace[];
  json?: true;
  logLevel: LogLevel;
  logFormat: 'json' | 'text';
  logFile?: string;
}

/** The file that clients should trust. */
interface CaFile {
  readonly file: string;
  remove(): void;
}

const HIGHEST_PORT = 65_535;
const SHORTEST_PASSWORD = 5;

export function startCommand(): Command {
  return new Command('start')
    .description('start the simulator and serve until it is stopped')
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--port <port>', 'port to listen on; left out: that of the data file, else a free one', toPort)
    .option('--data <file>', 'keep everything in this file; left out: in memory', notEmpty)
    .option(
      '--advertise <name>',
      'further host name or address for clients; may be repeated',
      (name: string, names: string[]) => [...names, toHost(name)],
      [],
    )
    .option('--username <name>', 'administrator (default: admin)', notEmpty)
    .option('--password <password>', 'its password; left out: made up and shown', longEnough)
    .option('--events-file <file>', 'write events to this file, a JSON object in each line; - for the standard output')
    .option(
      '--events <type>',
      `which events: ${NAMESPACES.join(', ')}; may be repeated; left out: all`,
      (type: string, types: Namespace[]) => [...types, toNamespace(type)],
      [],
    )
    .option('--cluster', 'answer as the only member of a cluster')
    .option('--dial-routers', 'dial routers that listen for controllers (ctrl.listeners)')
    .option('--console <folder>', 'serve the web console that was built in this folder', notEmpty)
    .option('--json', 'print the ready line as JSON')
    .addOption(
      new Option('--log-level <level>', 'least severe messages to log')
        .choices(['trace', 'debug', 'info', 'warn', 'error', 'silent'])
        .default('info'),
    )
    .addOption(
      new Option('--log-format <format>', 'json for machines, text for people')
        .choices(['json', 'text'])
        .default(process.stderr.isTTY ? 'text' : 'json'),
    )
    .option('--log-file <file>', 'append the log to this file instead of standard error', notEmpty)
    .addHelpText('after', examples('sim', 'start --port 1280 --data sim.db --json'))
    .action(async (options: StartOptions) => {
      const clock = new SystemClock();
      await endProcess(await start(options, clock), clock);
    });
}

async function start(options: StartOptions, clock: Clock): Promise<number> {
  const { first: stop } = stopSignals();
  const signals = daemonSignals();
  const { json, logLevel, logFormat, logFile, events, ...rest } = options;
  let daemonLog: DaemonLog;
  try {
    daemonLog = new DaemonLog({ level: logLevel, format: logFormat, clock, file: logFile });
  } catch (error) {
    process.stderr.write(`the simulator cannot start: the log file ${logFile}: ${describeError(error)}\n`);
    return 1;
  }
  const { log } = daemonLog;
  signals.onHangup = () => daemonLog.reopen();
  let simulator: Simulator;
  try {
    simulator = await startSimulator({ ...rest, eventTypes: events, log });
  } catch (error) {
    process.stderr.write(`the simulator cannot start: ${explain(error, options)}\n`);
    await daemonLog.close();
    return 1;
  }
  let ca: CaFile;
  try {
    ca = writeCa(simulator.ca, options.data);
  } catch (error) {
    await simulator.close();
    process.stderr.write(`the simulator cannot start: its authorities cannot be written: ${describeError(error)}\n`);
    return 1;
  }
  process.stdout.write(`${json ? JSON.stringify(readyLine(simulator, ca.file)) : readyText(simulator, ca.file)}\n`);
  const signal = await stop;
  log.info({ signal }, 'simulator stops');
  await simulator.close();
  ca.remove();
  await daemonLog.close();
  return 0;
}

function readyLine(simulator: Simulator, ca: string): Record<string, unknown> {
  const { managementUrl, clientUrl, consoleUrl, controlAddress, username, password, port, controllerId } = simulator;
  return {
    event: 'ready',
    management: managementUrl,
    client: clientUrl,
    ...(consoleUrl !== undefined && { console: consoleUrl }),
    ctrl: controlAddress,
    username,
    password: password ?? null,
    ca,
    port,
    controllerId,
    pid: process.pid,
  };
}

function readyText(simulator: Simulator, ca: string): string {
  const { managementUrl, clientUrl, consoleUrl, controlAddress, username, password } = simulator;
  const rows = {
    management: managementUrl,
    client: clientUrl,
    ...(consoleUrl !== undefined && { console: consoleUrl }),
    ctrl: controlAddress,
    username,
    password: password ?? '(as it was set before)',
    ca,
  };
  return `the simulator is ready\n${Object.entries(rows)
    .map(([name, value]) => `  ${name.padEnd(12)}${value}`)
    .join('\n')}`;
}

/** Beside the data file, or in a directory that goes when the simulator goes. */
function writeCa(pem: string, data: string | undefined): CaFile {
  if (data !== undefined) {
    const file = resolve(`${data}.ca.pem`);
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
    const which = port ? `port ${port}` : `the port that ${data} remembers`;
    const { holder } = error.detail;
    return `${which} at ${host} is in use${holder ? ` by ${holder}` : ''}; free it, or choose another one with --port`;
  }
  return describeError(error);
}

function toNamespace(text: string): Namespace {
  const found = namespaceOf(text);
  if (!found) throw new InvalidArgumentError(`there are events of these types: ${NAMESPACES.join(', ')}.`);
  return found;
}

function toHost(text: string): string {
  const problem = hostProblem(text);
  if (problem === undefined) return text;
  throw new InvalidArgumentError(`${problem}. Give a host name or an IP address.`);
}

function notEmpty(text: string): string {
  if (text.trim() !== '') return text;
  throw new InvalidArgumentError('it must not be empty.');
}

/** Logins with a shorter one are refused. */
function longEnough(text: string): string {
  if (text.length >= SHORTEST_PASSWORD) return text;
  throw new InvalidArgumentError(`a password has at least ${SHORTEST_PASSWORD} characters.`);
}

function toPort(text: string): number {
  const port = Number(text);
  if (!Number.isInteger(port) || port < 0 || port > HIGHEST_PORT)
    throw new InvalidArgumentError(`a port is a whole number from 0 to ${HIGHEST_PORT}.`);
  return port;
}
