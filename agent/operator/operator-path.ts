// Where the operator socket of a router is: in the folder that the service manager made for it, or else in one of the user's own, under a name
// that follows from the configuration file.

import { createHash } from 'node:crypto';
import { lstatSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { refuseForeignFolder } from '#lib/atomic-file.ts';

/** A user of a container need not have a name, so nothing asks for one. Windows has no such numbers, and a folder for each user. */
const USER_ID = process.getuid?.() ?? -1;
/** The folder of the service in `examples/service`. Only root makes folders there, so what lies in it is the service's. */
const SERVICE_FOLDER = '/run/edgeweave';

/** Where a router of this process listens. */
export function operatorPath(configFile: string): string {
  return join(serviceFolder() ?? userFolder(), socketName(configFile));
}

/**
 * Where the router of this file listens: another user's service as well, for root. Throws ProjectError when the folder there is another user's
 * and not the service's.
 */
export function findOperatorPath(configFile: string): string {
  const folders = [serviceFolder(), SERVICE_FOLDER].filter((folder) => folder !== undefined);
  const paths = folders.map((folder) => join(folder, socketName(configFile)));
  const path = paths.find(isSocket) ?? join(userFolder(), socketName(configFile));
  if (dirname(path) !== SERVICE_FOLDER) refuseForeignFolder(dirname(path)); // somebody else's socket may answer anything
  return path;
}

/** Where the reference's command line looks for the agent of this process. */
export function agentLink(): string {
  return join(tmpdir(), `gops-agent.${process.pid}.sock`);
}

/** Systemd names the folders of `RuntimeDirectory=` so. */
function serviceFolder(): string | undefined {
  return process.env.RUNTIME_DIRECTORY?.split(':', 1)[0] || undefined;
}

function userFolder(): string {
  return join(tmpdir(), `edgeweave-${USER_ID}`);
}

/** The path of a Unix socket must be short, so its name is a hash of the file's path. */
function socketName(configFile: string): string {
  return `${createHash('sha256').update(realPath(configFile)).digest('hex').slice(0, 16)}.sock`;
}

function isSocket(path: string): boolean {
  try {
    return lstatSync(path).isSocket();
  } catch {
    return false; // another user's folder, or none
  }
}

function realPath(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    return resolve(file); // the caller learns that no router runs with a file that does not exist
  }
}
