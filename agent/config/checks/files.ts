// Files that the router writes while it runs: an unwritable path would otherwise be noticed late, often when the file
// is needed.

import { isSameFile } from '#lib/symbolic-links.ts';
import { type WriteOptions, writeObstacle } from '#lib/writable.ts';
import { modelFilePath } from '../../access/model-path.ts';
import { endpointsFilePath } from '../../control/endpoints-file.ts';
import type { Finding } from '../finding.ts';
import { ownFiles } from '../own-files.ts';
import { at, type Check, type CheckInput } from './check.ts';

interface WrittenFile extends WriteOptions {
  readonly key: string;
  readonly path: string | undefined;
  /** The consequence of not writing the file. */
  readonly loss: string;
}

/** Files that the router writes: their paths are writable, and name no other file of the router. */
export const checkFiles: Check = (input) => [...unwritable(input), ...shared(input)];

/** The router starts without debugging and state files, so these are warnings. */
const unwritable: Check = (input) => {
  const { trace, profile, edge } = input.config;
  const endpoints = endpointsFilePath(input.config);
  const files: WrittenFile[] = [
    { key: 'trace.path', path: trace?.path, loss: 'messages are not traced' },
    { key: 'profile.cpu.path', path: profile?.cpu?.path, loss: 'no CPU profile is written', isReplaced: true },
    { key: 'profile.memory.path', path: profile?.memory?.path, loss: 'no memory profile is written', isReplaced: true },
    {
      key: 'ctrl.endpointsFile',
      path: endpoints,
      loss: 'controllers that joined the cluster are lost at a restart',
      isReplaced: true,
      makesFolder: true,
    },
    {
      key: 'edge.db',
      path: edge && modelFilePath(input.config),
      loss: 'after a restart the router knows no services until a controller answers',
      isReplaced: true,
    },
  ];
  return files.flatMap(({ key, path, loss, ...options }) => {
    const obstacle = path === undefined ? undefined : writeObstacle(path, options);
    if (obstacle === undefined) return [];
    const remedy = 'choose a file in a folder that the router can write to';
    return [at(input, 'warning', 'CFG-FILE', key, `${loss}: ${obstacle}`, remedy)];
  });
};

/** Keys of files that the router writes, apart from its certificates. */
const WRITTEN: ReadonlySet<string> = new Set([
  'ctrl.endpointsFile',
  'edge.db',
  'trace.path',
  'profile.cpu.path',
  'profile.memory.path',
]);

/** Errors: the start would destroy the other file. */
function shared(input: CheckInput): Finding[] {
  const files = ownFiles(input.config);
  return files.flatMap(({ key, path }, index) => {
    const other = WRITTEN.has(key) && files.slice(0, index).find((each) => isSameFile(each.path, path));
    if (!other) return [];
    const message = `${path} is also the file of ${other.key}`;
    return [at(input, 'error', 'CFG-FILE', key, message, 'choose a file of its own')];
  });
}
