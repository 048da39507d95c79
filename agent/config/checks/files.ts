// Files that the router writes while it runs: an unwritable path would otherwise be noticed late, often when the file
// is needed.

import { type WriteOptions, writeObstacle } from '#lib/writable.ts';
import { modelFilePath } from '../../access/model-path.ts';
import { endpointsFilePath } from '../../control/endpoints-file.ts';
import { at, type Check } from './check.ts';

interface WrittenFile extends WriteOptions {
  readonly key: string;
  readonly path: string | undefined;
  /** The consequence of not writing the file. */
  readonly loss: string;
}

/** Unwritable paths of debugging and state files. The router starts without them, so these are warnings. */
export const checkFiles: Check = (input) => {
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
