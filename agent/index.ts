// The router in a program of one's own: what the package exports as `edgeweave/router`.
//
//   await enrollRouter('router.yml', token);
//   await using router = await startRouter('router.yml');

import { SystemClock } from '#lib/clock.ts';
import { ProjectError } from '#lib/errors.ts';
import { type Log, silentLog } from '#lib/log.ts';
import { type Finding, findingText } from './config/finding.ts';
import { type LoadedConfig, loadRouterConfig } from './config/load.ts';
import type { RouterConfig } from './config/router-config.ts';
import { type EnrollmentResult, enrollRouter as enrollWith, type KeyAlgorithm } from './enroll/enroll.ts';
import { Router } from './router.ts';

export { createLog, type Log, type LogOptions } from '#lib/log.ts';
export type { EnrollmentResult, Finding, KeyAlgorithm, LoadedConfig, Router };
export { loadRouterConfig as checkRouterConfig };

export interface StartRouterOptions {
  /** Nothing is logged without one; `createLog()` writes to stderr. */
  readonly log?: Log;
  /** Renew the certificates at once, however long they are still valid. */
  readonly extend?: boolean;
}

export interface EnrollRouterOptions {
  readonly log?: Log;
  /** EC when left out. */
  readonly keyAlgorithm?: KeyAlgorithm;
}

/** The router would not start with this configuration. The message has each error with its place and remedy. */
export class ConfigurationError extends ProjectError {
  readonly findings: readonly Finding[];

  constructor({ file, findings }: LoadedConfig) {
    const errors = findings.filter(({ severity }) => severity === 'error');
    const lines = errors.map((each) => findingText(file, each));
    super('CONFIGURATION', [`${file} is no configuration of a router`, ...lines].join('\n'), { detail: { file } });
    this.findings = findings;
  }
}

/**
 * Starts the router of a configuration file; it is open when this resolves, and looks for its controllers. Close it to free its ports.
 * Rejects with ConfigurationError; with an error that has the system's code (`EADDRINUSE`, …) and names the key where a port cannot be opened.
 */
export async function startRouter(file: string, options: StartRouterOptions = {}): Promise<Router> {
  const config = accepted(loadRouterConfig(file));
  return await Router.start({ config, log: options.log ?? silentLog, extend: options.extend ?? false });
}

/** Enrolls the router of a configuration file with the text of a one-time token. Rejects with ConfigurationError and EnrollmentError. */
export async function enrollRouter(
  file: string,
  token: string,
  options: EnrollRouterOptions = {},
): Promise<EnrollmentResult> {
  const config = accepted(loadRouterConfig(file, { beforeEnrollment: true }));
  const { keyAlgorithm = 'EC', log = silentLog } = options;
  return await enrollWith({ config, jwt: token, keyAlgorithm, clock: new SystemClock(), log });
}

function accepted(loaded: LoadedConfig): RouterConfig {
  if (!loaded.config) throw new ConfigurationError(loaded);
  return loaded.config;
}
