// The router as a library: the package exports this file as `edgeweave/router`.
//
//   await enrollRouter('router.yml', token);
//   await using router = await startRouter('router.yml');

import { ProjectError } from '#lib/errors.ts';
import { type Log, silentLog } from '#lib/log/log.ts';
import {
  boolean,
  checkOptions,
  isFunction,
  log as isLog,
  notEmpty,
  type OptionCheck,
  OptionError,
  objectWith,
  oneOf,
  path,
} from '#lib/options.ts';
import { SystemClock } from '#lib/time/clock.ts';
import { type Finding, findingText } from '../agent/config/finding.ts';
import { type LoadedConfig, type LoadOptions, loadRouterConfig } from '../agent/config/load.ts';
import { logFindings } from '../agent/config/log-findings.ts';
import type { RouterConfig } from '../agent/config/router-config.ts';
import { type EnrollmentResult, enrollRouter as enrollWith, type KeyAlgorithm } from '../agent/enroll/enroll.ts';
import type { Router } from '../agent/interface/router.ts';
import { Router as Daemon } from '../agent/router.ts';

export type { LogLevel } from '#lib/log/log.ts';
export { createLog, type Log, type LogOptions } from '#lib/log/log.ts';
export { OptionError } from '#lib/options.ts';
export type { RouterConfig } from '../agent/config/router-config.ts';
export type * from '../agent/interface/description.ts';
export type { CloseOptions, ProxyOptions } from '../agent/interface/router.ts';
export type { EnrollmentResult, Finding, KeyAlgorithm, LoadedConfig, LoadOptions, Router };

export interface StartRouterOptions {
  /** Default: no logging; `createLog()` writes to stderr. */
  readonly log?: Log;
  /** Renew the certificates at once, regardless of their remaining validity. */
  readonly extend?: boolean;
}

export interface EnrollRouterOptions {
  readonly log?: Log;
  /** Default: EC. */
  readonly keyAlgorithm?: KeyAlgorithm;
}

const START_CHECKS: Readonly<Record<keyof StartRouterOptions, OptionCheck>> = { log: isLog, extend: boolean };
const ENROLL_CHECKS: Readonly<Record<keyof EnrollRouterOptions, OptionCheck>> = {
  log: isLog,
  keyAlgorithm: oneOf('RSA', 'EC'),
};
const LOAD_CHECKS: Readonly<Record<keyof LoadOptions, OptionCheck>> = {
  beforeEnrollment: boolean,
  extend: boolean,
  environment: objectWith([], 'an object of variables'),
  readFile: isFunction,
  now: (value) => (Number.isFinite(value) ? undefined : 'It must be a number of milliseconds since 1970.'),
};

/** The configuration is invalid. The message lists each error with its place and remedy. */
export class ConfigurationError extends ProjectError {
  readonly findings: readonly Finding[];

  constructor({ file, findings }: LoadedConfig) {
    const errors = findings.filter(({ severity }) => severity === 'error');
    const lines = errors.map((each) => findingText(file, each));
    super('CONFIGURATION', [`${file} is not a valid router configuration`, ...lines].join('\n'), { detail: { file } });
    this.findings = findings;
  }
}

/** Reads a configuration file and returns its findings, as `router config check` does. @throws OptionError only */
export function checkRouterConfig(file: string, options: LoadOptions = {}): LoadedConfig {
  checkFile('checkRouterConfig', file);
  checkOptions('checkRouterConfig', options, LOAD_CHECKS);
  return loadRouterConfig(file, options);
}

/**
 * Starts the router of a configuration file. Resolves once the router is open and dials its controllers. Close it to
 * free its ports. Rejects with OptionError and ConfigurationError; if a port cannot be opened, with an error that has
 * the system's code (`EADDRINUSE`, …) and names the key.
 */
export async function startRouter(file: string, options: StartRouterOptions = {}): Promise<Router> {
  checkFile('startRouter', file);
  checkOptions('startRouter', options, START_CHECKS);
  const { log = silentLog, extend = false } = options;
  const loaded = loadRouterConfig(file, { extend });
  logFindings(log, file, loaded.findings);
  const config = accepted(loaded);
  return await Daemon.start({ config, log, extend });
}

/**
 * Enrolls the router of a configuration file with a one-time token. Rejects with OptionError, ConfigurationError and
 * EnrollmentError.
 */
export async function enrollRouter(
  file: string,
  token: string,
  options: EnrollRouterOptions = {},
): Promise<EnrollmentResult> {
  checkFile('enrollRouter', file);
  const problem = notEmpty(token);
  if (problem !== undefined) throw new OptionError(`enrollRouter: the token is invalid. ${problem}`);
  checkOptions('enrollRouter', options, ENROLL_CHECKS);
  const config = accepted(loadRouterConfig(file, { beforeEnrollment: true }));
  const { keyAlgorithm = 'EC', log = silentLog } = options;
  return await enrollWith({ config, jwt: token, keyAlgorithm, clock: new SystemClock(), log });
}

function checkFile(caller: string, file: unknown): void {
  const problem = path(file);
  if (problem !== undefined)
    throw new OptionError(`${caller}: the path of the configuration file is invalid. ${problem}`);
}

function accepted(loaded: LoadedConfig): RouterConfig {
  if (!loaded.config) throw new ConfigurationError(loaded);
  return loaded.config;
}
