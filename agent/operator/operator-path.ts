// The path of a router's operator socket: in the folder of the service manager, else in a folder of the user. Its name
// is derived from the configuration file.

import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { requireOwnFolder } from '#lib/files/atomic-file.ts';

/** A user in a container may have no name, so only the id is used. Windows has no such ids, but a folder per user. */
const USER_ID = process.getuid?.() ?? -1;
/**
 * The folders of services: `edgeweave` in `examples/service`, and `edgeweave-NAME` of an adopted one. Only root creates
 * folders in /run, so their content belongs to the service.
 */
const SERVICES = '/run';
const SERVICE_FOLDER = /^edgeweave(?:-|$)/;
const USER_FOLDER = /^edgeweave-(?<uid>\d{1,10})$/;
const ROOT = 0;

/** The system's error for a path with more bytes than the address of a socket may have, about a hundred. */
export const PATH_TOO_LONG = 'EINVAL';
export const LONG_PATH_REMEDY = 'the path of the socket is too long: set TMPDIR to a folder with a shorter path';

/** Path of the socket of a router in this process. */
export function operatorPath(configFile: string): string {
  return join(serviceFolder() ?? userFolder(), socketName(configFile));
}

/** The name of the folder in /run for the socket of an adopted service. @param service Its unit, without the ending. */
export function serviceFolderName(service: string): string {
  return `edgeweave-${service.replaceAll(/[^\w.@-]/g, '_')}`;
}

/**
 * Path of the socket of the router with this file. Root also finds services, and the routers of the user who owns the
 * file or its folder: that user decides what the router does.
 * @throws ProjectError if the folder belongs to another user and not to the service
 */
export function findOperatorPath(configFile: string): string {
  const name = socketName(configFile);
  const services = serviceFolders().map((folder) => join(folder, name));
  const ofService = services.find(isSocket);
  if (ofService !== undefined) return ofService;
  const owners = USER_ID === ROOT ? ownersOf(configFile) : [];
  const folders = [serviceFolder(), userFolder(), ...owners.map((uid) => userFolder(uid))].filter(
    (folder) => folder !== undefined,
  );
  const path = folders.map((folder) => join(folder, name)).find(isSocket) ?? join(userFolder(), name);
  requireOwnFolder(dirname(path), [USER_ID, ...owners]); // another user's socket is not trustworthy
  return path;
}

/** Ids of other users who seem to run a router with this file. Do not connect: anybody may create such a socket. */
export function otherUsersWith(configFile: string): number[] {
  const name = socketName(configFile);
  return namesIn(tmpdir()).flatMap((folder) => {
    const uid = Number(USER_FOLDER.exec(folder)?.groups?.uid ?? USER_ID);
    return uid !== USER_ID && isSocket(join(tmpdir(), folder, name)) ? [uid] : [];
  });
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

/** The folder for this program in the variable that systemd sets for `RuntimeDirectory=`, or the first one in it. */
function serviceFolder(): string | undefined {
  const folders = process.env.RUNTIME_DIRECTORY?.split(':') ?? [];
  return (folders.find((folder) => SERVICE_FOLDER.test(basename(folder))) ?? folders[0]) || undefined;
}

function serviceFolders(): string[] {
  return namesIn(SERVICES)
    .filter((name) => SERVICE_FOLDER.test(name))
    .map((name) => join(SERVICES, name));
}

function userFolder(uid = USER_ID): string {
  return join(tmpdir(), `edgeweave-${uid}`);
}

/** The users who may replace the file. */
function ownersOf(configFile: string): number[] {
  const file = realPath(configFile);
  const owners = [file, dirname(file)].map((path) => statSync(path, { throwIfNoEntry: false })?.uid);
  return [...new Set(owners)].filter((uid) => uid !== undefined && uid !== USER_ID) as number[];
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // it does not exist, or this user may not list it
  }
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
