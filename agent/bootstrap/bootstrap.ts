// The steps before the router of a container: it creates the configuration file and enrolls the router, unless both
// exist (reference fact: dist/dist-packages/linux/openziti-router).
//
//   variables ─► configuration file ─► token ─► certificates

import { renameSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { writeFileAtomic } from '#lib/files/atomic-file.ts';
import { readProblem } from '#lib/files/read-problem.ts';
import { readTextFile } from '#lib/files/text-file.ts';
import { writeProblem } from '#lib/files/writable.ts';
import type { Environment } from '../config/text/environment.ts';
import { configText } from './config-file.ts';
import { BootstrapError, type BootstrapSettings, readConfigSettings } from './settings.ts';
import { variableChanges } from './variable-changes.ts';

export interface BootstrapInit {
  /** The configuration file; relative to the home folder. */
  file: string;
  settings: BootstrapSettings;
  environment: Environment;
  /** Name of this machine, which the certificates contain. */
  hostName: string;
  now: Date;
  /**
   * Enrolls the router with the text of a token; resolves with false if that failed, after it has printed the reason.
   */
  enroll(file: string, token: string): Promise<boolean>;
  /** Reports a step. */
  report(line: string): void;
  /** Reports a decision, if the operator debugs. */
  debug(line: string): void;
}

/** Permissions of the configuration file. Only its owner and root need it. */
const MODE = 0o600;

/**
 * Resolves with true if the router was enrolled by this call, with false if it was before. @throws BootstrapError with
 * the variable and the remedy
 */
export async function bootstrap(init: BootstrapInit): Promise<boolean> {
  const { settings, debug } = init;
  const file = resolve(settings.home, init.file);
  debug(`the configuration file is ${file}, the state is in ${settings.home}`);
  await makeConfig(file, init);
  return enroll(file, init);
}

async function makeConfig(file: string, { settings, environment, hostName, now, report, debug }: BootstrapInit) {
  const exists = hasContent(file);
  if (exists && settings.config !== 'force') {
    report(`the configuration file ${file} exists`);
    for (const line of variableChanges(await readTextFile(file), file, environment, settings.home)) report(line);
    return;
  }
  if (settings.config === 'off')
    throw new BootstrapError(
      `${file} does not exist or is empty, and ZITI_BOOTSTRAP_CONFIG does not allow to create it; mount the file, or set ZITI_BOOTSTRAP_CONFIG=true`,
    );
  const config = readConfigSettings(environment, settings.home, hostName);
  const ignored = environment.ZITI_ROUTER_LISTENER_BIND_PORT?.trim();
  if (ignored && ignored !== String(config.port))
    report(`ZITI_ROUTER_LISTENER_BIND_PORT=${ignored} has no effect: links use ZITI_ROUTER_PORT, ${config.port}`);
  debug(
    `the router is ${config.advertised}:${config.port}, the controller ${config.controller ?? 'that of the token'}`,
  );
  try {
    if (exists) {
      const old = `${file}.${now.toISOString().replace(/\.\d+Z$/, '+00:00')}.old`;
      renameSync(file, old);
      report(`the previous configuration file is ${old}`);
    }
    await writeFileAtomic(file, configText(config), { mode: MODE });
  } catch (error) {
    const remedy = 'or mount a volume there that this user may write to';
    throw new BootstrapError(`${writeProblem(file, error)}, ${remedy}`);
  }
  report(`the configuration file ${file} was created`);
}

async function enroll(file: string, { settings, ...init }: BootstrapInit): Promise<boolean> {
  const { enrollment, token, home } = settings;
  if (enrollment === 'off') {
    init.debug('ZITI_BOOTSTRAP_ENROLLMENT is false');
    return false;
  }
  const certificate = resolve(home, settings.certificate);
  if (hasContent(certificate) && enrollment !== 'force') {
    init.debug(`${certificate} exists`);
    return false;
  }
  if (token === undefined)
    throw new BootstrapError(
      `${certificate} does not exist, and ZITI_ENROLL_TOKEN is not set; set it to the enrollment token of this router, or to the path of its file`,
    );
  init.report('the router enrolls');
  if (!(await init.enroll(file, await readToken(token, home)))) throw new BootstrapError('the router is not enrolled');
  return true;
}

/** The variable has the token itself or the path of a file with it. */
async function readToken(given: string, home: string): Promise<string> {
  const path = resolve(home, given);
  if (given.split('.').length === 3 && !isFile(path)) return given;
  try {
    return await readTextFile(path); // signals take effect while a pipe has no writer
  } catch (error) {
    const problem = given.includes('/') ? readProblem(path, error) : 'it is neither a token nor the path of a file';
    throw new BootstrapError(`ZITI_ENROLL_TOKEN cannot be read: ${problem}`, { cause: error });
  }
}

/** @throws BootstrapError, for example for a name that is too long or a folder of another user */
function hasContent(path: string): boolean {
  try {
    return (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > 0;
  } catch (error) {
    const remedy = 'check ZITI_HOME, ZITI_ROUTER_NAME and ZITI_ROUTER_IDENTITY_CERT';
    throw new BootstrapError(`${readProblem(path, error)}; ${remedy}`, { cause: error });
  }
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false; // a token is too long for a path
  }
}
