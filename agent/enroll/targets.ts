// The files that an enrollment writes: which they are, and that they can be written. That is proven before the one-time token is spent,
// since a token that was spent for nothing locks the router out.

import { existsSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { makePrivateFolder } from '#lib/atomic-file.ts';
import { describeError } from '#lib/errors.ts';
import { parsePemSource } from '../config/pem-source.ts';
import type { RouterConfig } from '../config/router-config.ts';
import { endpointsFilePath } from '../control/endpoints-file.ts';
import { proveReplaceable } from '../identity/file-set.ts';
import { EnrollmentError } from './errors.ts';

export interface TargetFiles {
  readonly cert: string;
  readonly serverCert: string;
  readonly key: string;
  readonly ca: string;
  readonly endpoints: string;
  /** The router's copy of the network's data, which an enrollment makes worthless. */
  readonly data: string;
}

/** Throws EnrollmentError when a place to write to is missing. */
export function targetFiles(config: RouterConfig): TargetFiles {
  const { cert, server_cert, key, ca } = config.identity;
  const targets = {
    cert: identityFile('cert', cert),
    serverCert: identityFile('server_cert', server_cert),
    key: identityFile('key', key),
    ca: identityFile('ca', ca),
    endpoints: endpointsFilePath(config),
    data: config.edge?.db ?? `${config.file}.proto.gzip`,
  };
  mustDiffer([config.file, ...Object.values(targets)]);
  return targets;
}

/** Proves that every file can be written or removed. Throws EnrollmentError or FileSetError; leaves nothing behind. */
export async function proveTargets({ cert, serverCert, key, ca, endpoints, data }: TargetFiles): Promise<void> {
  try {
    makePrivateFolder(dirname(endpoints));
  } catch (error) {
    throw new EnrollmentError('FILES', `the folder of ${endpoints} cannot be made: ${describeError(error)}`, {
      cause: error,
    });
  }
  const written = [cert, serverCert, ca, endpoints];
  if (!isFile(key)) written.push(key); // a key that is there is used again
  if (existsSync(data)) written.push(data);
  await proveReplaceable(written);
}

function identityFile(name: string, value: string | undefined): string {
  if (value === undefined)
    throw new EnrollmentError('FILES', `identity.${name} is missing: enrollment needs a file to write to`);
  const source = parsePemSource(value);
  if (source.kind === 'inline')
    throw new EnrollmentError('FILES', `identity.${name} is inline text: enrollment needs a file to write to`);
  return source.path;
}

function mustDiffer(paths: readonly string[]): void {
  const twice = paths.find((path, index) => paths.slice(0, index).some((other) => resolve(other) === resolve(path)));
  if (twice !== undefined)
    throw new EnrollmentError('FILES', `${twice} is named for two things; give each a file of its own`);
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}
