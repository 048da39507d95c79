// The path of a router's operator socket: in the folder of the service manager, else in a folder of the user. Its name
// is derived from the configuration file.

import { createHash } from 'node:crypto';
import { lstatSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { requireOwnFolder } from '#lib/files/atomic-file.ts';

/** A user in a container may have no name, so only the id is used. Windows has no such ids, but a folder per user. */
const USER_ID = process.getuid?.() ?? -1;
/**
 * The folder of the service in `examples/service`. Only root creates folders there, so its content belongs to the
 * service.
 */
const SERVICE_FOLDER = '/run/edgeweave';

/** The system's error for a path with more bytes than the address of a socket may have, about a hundred. */
export const PATH_TOO_LONG = 'EINVAL';
export const LONG_PATH_REMEDY = 'the path of the socket is too long: set TMPDIR to a folder with a shorter path';

/** Path of the socket of a router in this process. */
export function operatorPath(configFile: string): string {
  return join(serviceFolder() ?? userFolder(), socketName(configFile));
}

/**
 * Path of the socket of the router with this file; root also finds services of other users. @throws ProjectError if the
 * folder belongs to another user and not to the service
 */
export function findOperatorPath(configFile: string): string {
  const folders = [serviceFolder(), SERVICE_FOLDER].filter((folder) => folder !== undefined);
  const paths = folders.map((folder) => join(folder, socketName(configFile)));
  const path = paths.find(isSocket) ?? join(userFolder(), socketName(configFile));
  if (dirname(path) !== SERVICE_FOLDER) requireOwnFolder(dirname(path)); // another user's socket is not trustworthy
  return path;
}

/** Whether a socket is in the folder of the service manager, which removes that folder when the router ends. */
export function isOfServiceManager(path: string): boolean {
  return dirname(path) === serviceFolder();
}

/** Names of such links, with the process id. */
export const AGENT_LINK = /^gops-agent\.([1-9]\d*)\.sock$/;

/** Path where the reference's command line expects the agent of this process. */
export function agentLink(): string {
  return join(tmpdir(), `gops-agent.${process.pid}.sock`);
}

/** The variable in which systemd names the folders of `RuntimeDirectory=`. */
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
    return false; // another user's folder, or a missing one
  }
}

function realPath(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    return resolve(file); // the caller reports that no router runs with this file
  }
}
