// Reads from a router's configuration where its health checks are: the address of the web section, the authorities, and
// the name in its certificate.

import { readTextFileSync } from '#lib/files/text-file.ts';
import { joinHostPort } from '#lib/net/address.ts';
import { loadRouterConfig } from '../config/load.ts';
import { readPemSource } from '../config/pem-source.ts';
import type { RouterConfig } from '../config/router-config.ts';
import type { HealthService } from './health-request.ts';
import { textReport } from './report.ts';

const WILDCARDS: Readonly<Record<string, string>> = { '': '127.0.0.1', '0.0.0.0': '127.0.0.1', '::': '::1' };

/** Undefined if no web server has the API. @throws Error with the findings of an invalid file */
export function healthTarget(file: string): HealthService | undefined {
  const loaded = loadRouterConfig(file);
  if (!loaded.config) throw new Error(textReport([loaded]).trimEnd());
  return healthServiceOf(loaded.config);
}

/**
 * Undefined if no web server has the API, or if the system chooses its port: the router itself answers then. @throws
 * the error of reading the authorities
 */
export function healthServiceOf(config: RouterConfig): HealthService | undefined {
  const web = config.web.find(({ apis }) => apis.some(({ binding }) => binding === 'health-checks'));
  const [point] = web?.bindPoints ?? [];
  if (!web || !point) return undefined;
  const { host, port } = point.interface;
  if (port === 0) return undefined;
  const authorities = (web.identity ?? config.identity).ca;
  return {
    url: `https://${joinHostPort(WILDCARDS[host] ?? host, port)}`,
    ca: authorities === undefined ? undefined : readPemSource(authorities, readTextFileSync),
    name: point.address.host, // the router may listen on another address
  };
}
