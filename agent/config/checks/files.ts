// Files that the router writes while it runs: an unwritable path would otherwise be noticed late, often when the file
// is needed.

import { isSameFile } from '#lib/files/symbolic-links.ts';
import { type WriteOptions, writeObstacle } from '#lib/files/writable.ts';
import type { Finding } from '../finding.ts';
import { type OwnFile, ownFiles } from '../own-files.ts';
import { at, type Check, type CheckInput } from './check.ts';

interface WrittenFile extends WriteOptions {
  /** The consequence of an unwritable file. */
  readonly loss: string;
}

/** By key: the files that the router writes, apart from its certificates. */
const WRITTEN: ReadonlyMap<string, WrittenFile> = new Map([
  ['trace.path', { loss: 'messages are not traced' }],
  ['profile.cpu.path', { loss: 'no CPU profile is written', isReplaced: true }],
  ['profile.memory.path', { loss: 'no memory profile is written', isReplaced: true }],
  [
    'ctrl.endpointsFile',
    { loss: 'controllers that joined the cluster are lost at a restart', isReplaced: true, makesFolder: true },
  ],
  ['edge.db', { loss: 'after a restart the router knows no services until a controller answers', isReplaced: true }],
]);

/** Files that the router writes: their paths are writable, and name no other file of the router. */
export const checkFiles: Check = (input) => {
  const files = ownFiles(input.config);
  return [...unwritable(input, files), ...shared(input, files)];
};

/** The router starts without debugging and state files, so these are warnings. */
function unwritable(input: CheckInput, files: readonly OwnFile[]): Finding[] {
  const paths = new Map(files.map(({ key, path }) => [key, path]));
  return [...WRITTEN].flatMap(([key, { loss, ...options }]) => {
    const path = paths.get(key);
    const obstacle = path === undefined ? undefined : writeObstacle(path, options);
    if (obstacle === undefined) return [];
    const remedy = 'choose a file in a folder that the router can write to';
    return [at(input, 'warning', 'CFG-FILE', key, `${loss}: ${obstacle}`, remedy)];
  });
}

/** Errors: the start would destroy the other file. */
function shared(input: CheckInput, files: readonly OwnFile[]): Finding[] {
  return files.flatMap(({ key, path }, index) => {
    const other = WRITTEN.has(key) && files.slice(0, index).find((each) => isSameFile(each.path, path));
    if (!other) return [];
    const message = `${path} is also the file of ${other.key}`;
    return [at(input, 'error', 'CFG-FILE', key, message, 'choose a file of its own')];
  });
}
