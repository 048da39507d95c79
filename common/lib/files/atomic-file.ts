// Replaces files atomically: writes a new file beside the old one, flushes it to disk, and renames it.

import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, lstatSync, mkdirSync, type PathLike, readdirSync, rmSync, statSync } from 'node:fs';
import { open, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { errorCode, ProjectError } from '../errors.ts';
import { WriteError } from './writable.ts';

/**
 * The rest of the name of a temporary file, after the name of the file and a dot: the process that writes it (its id,
 * then bytes that tell it from an ended process with the same id), random bytes, and the kind. `replaceFiles` uses all
 * kinds but `tmp`.
 */
const UNFINISHED = /^(?<pid>[1-9]\d{0,9})-(?<run>[0-9a-f]{8})-[0-9a-f]{12}\.(tmp|new|old|trial)$/;
const RUN = randomBytes(4).toString('hex');
/** Permission bits of group and others. */
const OTHERS = 0o077;
/** Permission bits of everybody. */
const EVERYBODY = 0o007;
/** A folder like /tmp: everybody creates files, and only their owners remove them. Volumes of containers have 0777. */
const COMMON = 0o1002;
/** All permission bits of a file mode. */
const PERMISSIONS = 0o7777;
/**
 * Errors of folders that cannot be flushed: this user may write but not read them, or the file system, for example of
 * another machine, has no such operation.
 */
const NO_FLUSH: ReadonlySet<string | undefined> = new Set([
  'EACCES',
  'EPERM',
  'EISDIR',
  'EINVAL',
  'EBADF',
  'ENOTSUP',
  'EOPNOTSUPP',
]);

export interface AtomicWriteOptions {
  /** Permission bits of the new file; default 0600, since most of these files are secret. */
  mode?: number;
  /** The new file gets the owner and the permission bits of an old one. */
  keepsOwner?: boolean;
}

/**
 * Replaces `path` with `content`. On any failure the old file remains and the temporary file is removed. Devices and
 * pipes are written to instead: replacing /dev/null would damage the machine. Rejects with WriteError, and with
 * ProjectError for a pipe that another user has put into a folder where everybody creates files.
 */
export async function writeFileAtomic(
  path: string,
  content: string | Uint8Array,
  options: AtomicWriteOptions = {},
): Promise<void> {
  const found = await stat(path).catch(() => undefined); // the write below reports the reason
  if (found && !found.isFile() && !found.isDirectory()) {
    requireNotPlanted(path);
    await writeFile(path, content).catch((error: unknown) => {
      throw new WriteError(path, error);
    });
    return;
  }
  const temporary = `${path}.${temporarySuffix()}.tmp`;
  try {
    const file = await open(temporary, 'wx', options.mode ?? 0o600);
    try {
      if (found && options.keepsOwner) {
        await file.chown(found.uid, found.gid);
        await file.chmod(found.mode & PERMISSIONS);
      }
      await file.writeFile(content);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw new WriteError(path, error);
  }
  await syncFolder(dirname(path));
}

/**
 * Nobody else decides where this user writes. The entry at the path counts, not what a link leads to. @throws
 * ProjectError for an entry that another user has put into a folder where everybody creates files
 */
export function requireNotPlanted(path: string): void {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (!found || isTrusted(found.uid) || (statSync(dirname(path)).mode & COMMON) !== COMMON) return;
  throw new ProjectError('FILE_TAKEN', `${path} belongs to another user; remove it, or name another file`);
}

/** Whether a file belongs to this user or to root. */
function isTrusted(uid: number): boolean {
  return uid === 0 || uid === (process.getuid?.() ?? uid);
}

/** Distinguishes the temporary files of one write; goes between the name of the file and the kind. */
export function temporarySuffix(): string {
  return `${process.pid}-${RUN}-${randomBytes(6).toString('hex')}`;
}

/**
 * Removes what killed processes have left of writes to `path`. Files of running processes remain: routers whose
 * configurations are in one folder share some files by default.
 */
export function removeUnfinished(path: string): void {
  const [folder, prefix] = [dirname(path), `${basename(path)}.`];
  for (const name of existsSync(folder) ? readdirSync(folder) : []) {
    const writer = name.startsWith(prefix) && UNFINISHED.exec(name.slice(prefix.length))?.groups;
    if (writer && !isRunning(Number(writer.pid), writer.run)) rmSync(join(folder, name), { force: true });
  }
}

/** Whether the process runs. In a container, each run of a program may have the same id. */
function isRunning(pid: number, run: string | undefined): boolean {
  if (pid === process.pid) return run === RUN;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return errorCode(error) === 'EPERM'; // of another user
  }
}

/** As `removeUnfinished`, but does not throw if the folder cannot be read. */
export function tryRemoveUnfinished(path: string): void {
  try {
    removeUnfinished(path);
  } catch {
    // the next write reports why the folder cannot be used
  }
}

/** Creates a folder and its parents, readable by the owner only. */
export function makePrivateFolder(path: PathLike): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
}

/**
 * Creates a private folder that other users cannot enter or replace, at a shared path such as the folder for temporary
 * files. Throws like `requireOwnFolder`.
 */
export function claimPrivateFolder(path: string): void {
  makePrivateFolder(path);
  requireOwnFolder(path);
  if ((lstatSync(path).mode & OTHERS) !== 0) chmodSync(path, 0o700);
}

/**
 * Takes the rights of everybody from an existing file with secrets: a copy, a restore or an earlier version may have
 * given them. Its group keeps its rights. Throws like `requireNotPlanted`.
 */
export function claimPrivateFile(path: string): void {
  requireNotPlanted(path);
  const stats = statSync(path);
  const { uid, mode } = stats;
  if (!stats.isFile()) return; // a device such as /dev/null is for everybody
  if (uid === process.getuid?.() && (mode & EVERYBODY) !== 0) chmodSync(path, mode & PERMISSIONS & ~EVERYBODY);
}

/**
 * @param owners Ids of the users whose folder it may be, by default this user.
 * @throws ProjectError if the path exists but is not a folder of such a user; a symbolic link is not
 */
export function requireOwnFolder(path: string, owners: readonly number[] = [process.getuid?.() ?? -1]): void {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (!found || (found.isDirectory() && (process.getuid === undefined || owners.includes(found.uid)))) return;
  throw new ProjectError(
    'FOLDER_TAKEN',
    `${path} is not a folder of this user; remove it, or set TMPDIR to your own folder`,
  );
}

/**
 * A rename survives a power failure only after the folder itself is flushed. Does nothing where that is impossible: the
 * file is complete all the same.
 */
export async function syncFolder(path: string): Promise<void> {
  try {
    await using folder = await open(path, 'r');
    await folder.sync();
  } catch (error) {
    if (!NO_FLUSH.has(errorCode(error))) throw error;
  }
}
