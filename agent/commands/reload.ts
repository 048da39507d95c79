// SIGHUP: the router reloads certificates and log files, and logs which changes of the configuration need a restart.

import { describeError } from '#lib/errors.ts';
import type { DaemonLog } from '#lib/log/daemon-log.ts';
import type { ServiceManager } from '#lib/process/service-manager.ts';
import type { LoadedConfig } from '../config/load.ts';
import { loadApart } from '../config/load-apart.ts';
import { logFindings } from '../config/log-findings.ts';
import type { Router } from '../router.ts';

interface Reloaded {
  readonly manager: ServiceManager;
  readonly router: Pick<Router, 'reload'>;
  readonly daemonLog: DaemonLog;
  /** The configuration that the router runs with. */
  readonly loaded: LoadedConfig;
}

/** Limit on paths in one log line. */
const MAX_PATHS = 20;

/** Runs one reload at a time; requests that arrive in the meantime are combined into one more. */
export function reloader(reloaded: Reloaded): () => Promise<void> {
  let isRunning = false;
  let isWanted = false;
  return async () => {
    isWanted = true;
    if (isRunning) return;
    isRunning = true;
    while (isWanted) {
      isWanted = false;
      reloaded.manager.reloading();
      await reload(reloaded);
      reloaded.manager.reloaded();
    }
    isRunning = false;
  };
}

/**
 * Reopens the log and trace files, loads the certificates, and logs changes of the configuration. Failures are logged.
 */
async function reload({ router, daemonLog, loaded }: Reloaded): Promise<void> {
  const { log } = daemonLog;
  daemonLog.reopen();
  log.info({ config: loaded.file }, 'reload');
  try {
    await router.reload();
  } catch (error) {
    log.error({ error: describeError(error) }, 'certificates cannot be loaded, the old ones stay in use');
  }
  try {
    const now = await loadApart(loaded.file);
    const known = new Set(loaded.findings.map((each) => JSON.stringify(each)));
    const added = now.findings.filter((each) => !known.has(JSON.stringify(each)));
    logFindings(log, loaded.file, added);
    const [first] = now.findings.filter(({ severity }) => severity === 'error');
    if (first) {
      const { line, path, message } = first;
      log.error({ line, path, error: message }, 'configuration has errors, the router would not start with it');
      return;
    }
    const changed = changedPaths(loaded, now);
    if (changed.length === 0) return;
    const fields = { changed: changed.length, paths: changed.slice(0, MAX_PATHS) };
    log.warn(fields, 'configuration has changed, a restart is required');
  } catch (error) {
    log.error({ error: describeError(error) }, 'configuration cannot be read');
  }
}

/** Paths whose values differ, including those that exist in one of the two only. */
function changedPaths(before: Pick<LoadedConfig, 'values'>, now: Pick<LoadedConfig, 'values'>): string[] {
  const [was, is] = [before, now].map(({ values }) => new Map(values.map(({ path, written }) => [path, written])));
  const paths = new Set([...(was?.keys() ?? []), ...(is?.keys() ?? [])]);
  return [...paths].filter((path) => JSON.stringify(was?.get(path)) !== JSON.stringify(is?.get(path)));
}
