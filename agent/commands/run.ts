// `run FILE`: the router as a daemon. It logs to stderr or a file. SIGTERM and SIGINT drain and end with exit code 0; a
// second signal skips the wait. SIGHUP reloads files (reload.ts), SIGQUIT writes a report into the log.

import { Command, Option } from 'commander';
import { background } from '#lib/background.ts';
import { lifetimeOf, withLifetime } from '#lib/commands/lifetime.ts';
import { examples } from '#lib/commands/name.ts';
import { asError, describeError } from '#lib/errors.ts';
import { DaemonLog, logFileProblem } from '#lib/log/daemon-log.ts';
import type { Log, LogLevel } from '#lib/log/log.ts';
import { LOG_LEVELS } from '#lib/log/log-levels.ts';
import { onSignal, surviveSignals } from '#lib/process/daemon-signals.ts';
import { endProcess } from '#lib/process/end-process.ts';
import { endOfLifetime, type Lifetime } from '#lib/process/lifetime.ts';
import { keepCompiledCode, limitHeapGrowth } from '#lib/process/memory.ts';
import { delayOptimization } from '#lib/process/optimizer.ts';
import { releaseProgramPages } from '#lib/process/program-pages.ts';
import { ServiceManager } from '#lib/process/service-manager.ts';
import { stackDump } from '#lib/process/stack-dump.ts';
import { type StopSignals, stopSignals } from '#lib/process/stop-signal.ts';
import { reportUnreadableAuthorities } from '#lib/process/unreadable-authorities.ts';
import type { Subscription } from '#lib/subscription.ts';
import { type Clock, SystemClock } from '#lib/time/clock.ts';
import { endChainVerification } from '#wire/connection/client-chains.ts';
import type { LoadedConfig } from '../config/load.ts';
import { loadApart } from '../config/load-apart.ts';
import { logFindings } from '../config/log-findings.ts';
import { ownFiles } from '../config/own-files.ts';
import { endpointsFilePath } from '../control/endpoints-file.ts';
import { runningRouter } from '../operator/running-router.ts';
import type { Router } from '../router.ts';
import { seconds } from './durations.ts';
import { Exit } from './exit.ts';
import { reloader } from './reload.ts';

interface RunOptions extends Lifetime {
  logLevel: LogLevel;
  logFormat: 'json' | 'text';
  logFile?: string;
  drainSeconds: number;
  extend: boolean;
}

const DRAIN_SECONDS = 10;
const REPORT = 'diagnostic report';

export function runCommand(): Command {
  const command = new Command('run')
    .description('run the router')
    .argument('<file>', 'configuration file')
    .addOption(new Option('--log-level <level>', 'lowest severity to log').choices(LOG_LEVELS).default('info'))
    .addOption(
      new Option('--log-format <format>', 'log format: json for machines, text for people')
        .choices(['json', 'text'])
        .default(process.stderr.isTTY ? 'text' : 'json', 'text on a terminal, else json'),
    )
    .option('--log-file <file>', 'append the log to this file instead of standard error')
    .option('--drain-seconds <seconds>', 'time that open circuits may continue after SIGTERM', seconds, DRAIN_SECONDS)
    .option('--extend', 'renew the certificates at once', false)
    .addHelpText('after', examples('router', 'run router.yml'))
    .action(async (file: string, options: RunOptions) => {
      const clock = new SystemClock();
      await endProcess(await run(file, options, clock), clock);
    });
  return withLifetime(command);
}

async function run(file: string, options: RunOptions, clock: SystemClock): Promise<number> {
  const stop = stopSignals();
  const ended = endOfLifetime(lifetimeOf(options), clock);
  surviveSignals();
  // Loads the router's code while the configuration is being checked.
  const loading = Promise.all([loadApart(file, { extend: options.extend }), import('../router.ts')]);
  let ready: Awaited<typeof loading> | string;
  try {
    ready = await Promise.race([loading, stop.first, ended]);
  } catch (error) {
    return refuse(options, clock, `${file} cannot be checked: ${describeError(error)}`);
  }
  if (typeof ready === 'string') {
    await report(options, clock, (log) => log.info({ reason: ready }, 'router stops before its start'));
    return Exit.Done; // no resource is open yet
  }
  const [loaded, { Router: Daemon }] = ready;
  const running = await runningRouter(file);
  if (running !== undefined) {
    const error = `a router is already running with ${file} (it listens on ${running}): stop it before you start another one`;
    return refuse(options, clock, error);
  }
  const problem = logFileProblem(options.logFile, filesOf(loaded));
  if (problem !== undefined) {
    await refuse(options, clock, problem);
    return Exit.WrongUse;
  }
  let daemonLog: DaemonLog;
  try {
    daemonLog = new DaemonLog({ level: options.logLevel, format: options.logFormat, clock, file: options.logFile });
  } catch (error) {
    const reason = `the log file ${options.logFile} cannot be opened: ${describeError(error)} (--log-file)`;
    return refuse(options, clock, reason);
  }
  logFindings(daemonLog.log, file, loaded.findings);
  reportUnreadableAuthorities(daemonLog.log);
  const { config } = loaded;
  if (!config) {
    const errors = loaded.findings.filter(({ severity }) => severity === 'error').length;
    daemonLog.log.fatal({ config: file, errors }, 'router cannot start: the configuration is invalid');
    await daemonLog.close();
    return Exit.Failed;
  }
  const { log, levels } = daemonLog;
  // A mistake in one part, such as a metrics report, must not end the circuits of all others.
  clock.reportFailures((timer, error) =>
    log.error({ timer, error: describeError(error), stack: asError(error).stack }, 'the task of a timer failed'),
  );
  endChainVerification(log);
  const manager = new ServiceManager({ clock, log });
  const starting = onSignal('SIGQUIT', () => daemonLog.report(REPORT, stackDump(clock).split('\n')));
  try {
    const start = () =>
      Daemon.start({ config, log, logLevels: levels, clock, extend: options.extend, ownsProcess: true });
    const drain = options.drainSeconds * 1000;
    return await serve(start, { clock, stop, ended, starting, drain, loaded, daemonLog, manager });
  } finally {
    manager.close();
    await daemonLog.close();
  }
}

/** Logs the reason to standard error: the log file may be one of another program. */
async function refuse({ logLevel, logFormat }: RunOptions, clock: Clock, error: string): Promise<number> {
  await report({ logLevel, logFormat }, clock, (log) => log.fatal({ error }, 'router cannot start'));
  return Exit.Failed;
}

/** Logs one line to standard error. */
async function report(
  { logLevel: level, logFormat: format }: Pick<RunOptions, 'logLevel' | 'logFormat'>,
  clock: Clock,
  line: (log: Log) => void,
): Promise<void> {
  const daemonLog = new DaemonLog({ level, format, clock });
  line(daemonLog.log);
  await daemonLog.close();
}

/** The files that the log must not be. An invalid configuration has texts that may be the paths of some. */
function filesOf({ file, config, values }: LoadedConfig): (readonly [what: string, path: string])[] {
  if (config) return ownFiles(config).map(({ key, path }) => [`the file of ${key}`, path] as const);
  const texts = values.flatMap(({ path, written }) =>
    typeof written === 'string' && written !== ''
      ? [[`the file of ${path}`, written.replace(/^file:\/\//, '')] as const]
      : [],
  );
  const endpoints = endpointsFilePath({ file, ctrl: {} });
  return [['the file of the configuration', file], ['the file of ctrl.endpointsFile', endpoints], ...texts];
}

interface Serving {
  readonly clock: Clock;
  readonly stop: StopSignals;
  /** Resolves with the reason when nobody needs the router any longer. */
  readonly ended: Promise<string>;
  /** Reports the start for SIGQUIT, until the router is ready. */
  readonly starting: Subscription;
  /** Milliseconds. */
  readonly drain: number;
  readonly loaded: LoadedConfig;
  readonly daemonLog: DaemonLog;
  readonly manager: ServiceManager;
}

/** Runs the router from its start to its end. */
async function serve(
  start: () => Promise<Router>,
  { clock, stop, ended, starting, drain, loaded, daemonLog, manager }: Serving,
): Promise<number> {
  const { log } = daemonLog;
  let router: Router;
  try {
    router = await start();
  } catch (error) {
    log.fatal({ error: describeError(error) }, 'router cannot start');
    return Exit.Failed;
  }
  limitHeapGrowth();
  keepCompiledCode();
  releaseProgramPages();
  delayOptimization(clock);
  manager.ready(() => router.summary);
  const reload = reloader({ manager, router, daemonLog, loaded });
  onSignal('SIGHUP', () => background(log, 'reload', reload));
  starting();
  onSignal('SIGQUIT', () =>
    daemonLog.report(REPORT, [`router: ${router.id}, ${router.summary}`, ...stackDump(clock).split('\n')]),
  );
  const nobody = ended.then((text) => ({ text }));
  const reason = await Promise.race([router.failed, router.decommissioned, stop.first, nobody]);
  if (reason instanceof Error) log.fatal({ error: describeError(reason) }, 'router failed');
  else if (reason === undefined) log.info({}, 'router stops: the controller deleted it');
  else if (typeof reason === 'string') log.info({ signal: reason }, 'signal received');
  else log.info({ reason: reason.text }, 'router stops');
  const time = typeof reason === 'string' ? drain : 0;
  manager.stopping(time);
  await router.close({ drain: time, hurry: stop.second });
  return reason instanceof Error ? Exit.Failed : Exit.Done;
}
