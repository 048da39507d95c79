// The files that an enrollment writes. It checks that they are writable before it uses the one-time token: a failure
// afterwards would lock the router out.

import { existsSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { describeError } from '#lib/errors.ts';
import { makePrivateFolder } from '#lib/files/atomic-file.ts';
import { modelFilePath } from '../access/model-path.ts';
import { parsePemSource } from '../config/pem-source.ts';
import type { RouterConfig } from '../config/router-config.ts';
import { endpointsFilePath } from '../control/endpoints-file.ts';
import { proveReplaceable } from '../identity/file-set.ts';
import { EnrollmentError } from './errors.ts';

export interface TargetFiles {
  readonly cert: string;
  readonly serverCert: string;
  readonly key: string;
  /** The key of the server certificate, if it has its own file. */
  readonly serverKey: string | undefined;
  readonly ca: string;
  readonly endpoints: string;
  /** The router's copy of the network's data, which an enrollment invalidates. */
  readonly data: string;
}

/** @throws EnrollmentError if a target is missing */
export function targetFiles(config: RouterConfig): TargetFiles {
  const { cert, server_cert, key, server_key, ca } = config.identity;
  const keyFile = identityFile('key', key);
  const targets = {
    cert: identityFile('cert', cert),
    serverCert: identityFile('server_cert', server_cert),
    key: keyFile,
    serverKey: separateFile(server_key, keyFile),
    ca: identityFile('ca', ca),
    endpoints: endpointsFilePath(config),
    data: modelFilePath(config),
  };
  mustDiffer([config.file, ...Object.values(targets).filter((path) => path !== undefined)]);
  return targets;
}

/**
 * Checks that every file can be written or removed, and leaves nothing behind. @throws EnrollmentError or FileSetError
 */
export async function proveTargets(targets: TargetFiles): Promise<void> {
  const { cert, serverCert, key, serverKey, ca, endpoints, data } = targets;
  try {
    makePrivateFolder(dirname(endpoints));
  } catch (error) {
    throw new EnrollmentError('FILES', `the folder of ${endpoints} cannot be created: ${describeError(error)}`, {
      cause: error,
    });
  }
  const written = [cert, serverCert, ca, endpoints];
  // An existing key is reused.
  for (const each of [key, serverKey]) if (each !== undefined && !isFile(each)) written.push(each);
  if (existsSync(data)) written.push(data);
  await proveReplaceable(written);
}

function identityFile(name: string, value: string | undefined): string {
  if (value === undefined)
    throw new EnrollmentError('FILES', `identity.${name} is missing: enrollment requires a file to write to`);
  const source = parsePemSource(value);
  if (source.kind === 'inline')
    throw new EnrollmentError('FILES', `identity.${name} is inline text: enrollment requires a file to write to`);
  return source.path;
}

/** The file that `value` names; undefined for inline text, a missing value and the file of the other key. */
function separateFile(value: string | undefined, key: string): string | undefined {
  const source = value === undefined ? undefined : parsePemSource(value);
  return source?.kind === 'file' && resolve(source.path) !== resolve(key) ? source.path : undefined;
}

function mustDiffer(paths: readonly string[]): void {
  const twice = paths.find((path, index) => paths.slice(0, index).some((other) => resolve(other) === resolve(path)));
  if (twice !== undefined)
    throw new EnrollmentError('FILES', `${twice} is used for two purposes; choose a separate file for each`);
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}
