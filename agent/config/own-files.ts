// The files that the router reads and writes, with their configuration keys: none of them may also be a log, a trace or
// a profile, which would destroy its content.

import { modelFilePath } from '../access/model-path.ts';
import { endpointsFilePath } from '../control/endpoints-file.ts';
import { type PemSource, parsePemSource } from './pem-source.ts';
import type { ResolvedValue } from './resolve.ts';
import type { IdentityConfig, RouterConfig } from './router-config.ts';

export interface OwnFile {
  /** A configuration key, or `the configuration`. */
  readonly key: string;
  readonly path: string;
}

/** Files that others provide come first, then those that the router writes. */
export function ownFiles(config: RouterConfig): OwnFile[] {
  const { identity, web, transport, edge, trace, profile } = config;
  const files: [key: string, path: string | undefined][] = [
    ['the configuration', config.file],
    ...identityFiles('identity', identity),
    ...web.flatMap((server, index) => identityFiles(`web[${index}].identity`, server.identity)),
    ...identityFiles('transport.wss.identity', transport.wss.identity),
    ['ctrl.endpointsFile', endpointsFilePath(config)],
    ['edge.db', edge && modelFilePath(config)],
    ['trace.path', trace?.path],
    ['profile.cpu.path', profile?.cpu?.path],
    ['profile.memory.path', profile?.memory?.path],
  ];
  return files.flatMap(([key, path]) => (path === undefined ? [] : [{ key, path }]));
}

/** The files that texts of a configuration name, also of an invalid one, under keys that match a pattern. */
export function writtenFiles(values: readonly ResolvedValue[], keys: RegExp): OwnFile[] {
  return values.flatMap(({ path: key, written }) => {
    const path = keys.test(key) && typeof written === 'string' ? fileOf(written) : undefined;
    return path === undefined ? [] : [{ key, path }];
  });
}

function identityFiles(place: string, identity: IdentityConfig | undefined): [key: string, path: string | undefined][] {
  const { cert, key, server_cert, server_key, ca, alt_server_certs = [] } = identity ?? {};
  const sources = { cert, key, server_cert, server_key, ca };
  return [
    ...Object.entries(sources).map(([name, value]): [string, string | undefined] => [
      `${place}.${name}`,
      fileOf(value),
    ]),
    ...alt_server_certs.flatMap((pair, index) =>
      Object.entries(pair).map(([name, value]): [string, string | undefined] => [
        `${place}.alt_server_certs[${index}].${name}`,
        fileOf(value),
      ]),
    ),
  ];
}

/** Undefined for inline text, and for invalid sources, which have findings of their own. */
function fileOf(value: string | undefined): string | undefined {
  let source: PemSource;
  try {
    source = parsePemSource(value ?? '');
  } catch {
    return undefined;
  }
  return source.kind === 'file' ? source.path : undefined;
}
