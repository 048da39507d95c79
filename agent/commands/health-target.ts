// Where the health checks of a router are, read from its configuration: the address of the web section, the authorities, and the name that its
// certificate must have.

import { readFileSync } from 'node:fs';
import { joinHostPort } from '#lib/address.ts';
import { loadRouterConfig } from '../config/load.ts';
import { readPemSource } from '../config/pem-source.ts';
import { textReport } from './report.ts';

export interface HealthTarget {
  readonly url: string;
  readonly ca: string | undefined;
  /** The host that others know the router by; it may listen on another address. */
  readonly name: string;
}

const WILDCARDS: Readonly<Record<string, string>> = { '': '127.0.0.1', '0.0.0.0': '127.0.0.1', '::': '::1' };

/** Throws an Error that says what is missing, and where. */
export function healthTarget(file: string): HealthTarget {
  const loaded = loadRouterConfig(file);
  const { config } = loaded;
  if (!config) throw new Error(textReport([loaded]).trimEnd());
  const web = config.web.find(({ apis }) => apis.some(({ binding }) => binding === 'health-checks'));
  const [point] = web?.bindPoints ?? [];
  if (!web || !point)
    throw new Error(`${file} has no web section with the API health-checks; \`router inspect ${file}\` needs none`);
  const { host, port } = point.interface;
  const authorities = (web.identity ?? config.identity).ca;
  return {
    url: `https://${joinHostPort(WILDCARDS[host] ?? host, port)}`,
    ca: authorities === undefined ? undefined : readPemSource(authorities, (path) => readFileSync(path, 'utf8')),
    name: point.address.host,
  };
}
