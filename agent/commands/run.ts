// `run FILE`: the router as a daemon. Logs go to stderr; SIGTERM and SIGINT drain and end with exit code 0; another
// Ctrl-C some time later ends it without more waiting.

import { Command, Option } from 'commander';
import { type Clock, SystemClock } from '#lib/clock.ts';
import { examples } from '#lib/command-name.ts';
import { DaemonLog } from '#lib/daemon-log.ts';
import { endProcess } from '#lib/end-process.ts';
import { describeError } from '#lib/errors.ts';
import type { Log, LogLevel } from '#lib/log.ts';
import { LOG_LEVELS } from '#lib/log-levels.ts';
import { stopSignal } from '#lib/stop-signal.ts';
import { loadApart } from '../config/load-apart.ts';
import type { Router } from '../router.ts';
import { seconds } from './durations.ts';
import { complain, Exit } from './exit.ts';
import { textReport } from './report.ts';

interface RunOptions {
  logLevel: LogLevel;
  logFormat: 'json' | 'text';
  drainSeconds: number;
  extend: boolean;
}

const DRAIN_SECONDS = 10;

export function runCommand(): Command {
  return new Command('run')
    .description('run the router')
    .argument('<file>', 'configuration file')
    .addOption(new Option('--log-level <level>', 'least severe messages to log').choices(LOG_LEVELS).default('info'))
    .addOption(
      new Option('--log-format <format>', 'json for machines, text for people')
        .choices(['json', 'text'])
        .default(process.stderr.isTTY ? 'text' : 'json'),
    )
    .option('--drain-seconds <seconds>', 'how long open circuits may go on after SIGTERM', seconds, DRAIN_SECONDS)
    .option('--extend', 'renew the certificates at once', false)
    .addHelpText('after', examples('router', 'run router.yml'))
    .action(async (file: string, options: RunOptions) => {
      const clock = new SystemClock();
      await endProcess(await run(file, options, clock), clock);
    });
}

async function run(file: string, options: RunOptions, clock: Clock): Promise<number> {
  const stop = stopSignal();
  // The router's code is loaded while the configuration is checked.
  const ready = await Promise.race([Promise.all([loadApart(file), import('../router.ts')]), stop]);
  if (typeof ready === 'string') return Exit.Done; // nothing has been opened yet
  const [loaded, { Router: Daemon }] = ready;
  if (loaded.findings.length > 0) complain(textReport([loaded]).trimEnd());
  const { config } = loaded;
  if (!config) return Exit.Failed;
  const daemonLog = new DaemonLog({ level: options.logLevel, format: options.logFormat, clock });
  try {
    const { log, levels } = daemonLog;
    return await serve(() => Daemon.start({ config, log, logLevels: levels, extend: options.extend }), log, {
      stop,
      drain: options.drainSeconds * 1000,
    });
  } finally {
    await daemonLog.close();
  }
}

/** From the start of the router to its end. */
async function serve(
  start: () => Promise<Router>,
  log: Log,
  { stop, drain }: { stop: Promise<NodeJS.Signals>; drain: number },
): Promise<number> {
  let router: Router;
  try {
    router = await start();
  } catch (error) {
    log.fatal({ error: describeError(error) }, 'router cannot start');
    return Exit.Failed;
  }
  const reason = await Promise.race([router.failed, stop]);
  if (reason instanceof Error) log.fatal({ error: describeError(reason) }, 'router cannot go on');
  else log.info({ signal: reason }, 'signal received');
  await router.close({ drain: reason instanceof Error ? 0 : drain });
  return reason instanceof Error ? Exit.Failed : Exit.Done;
}
