// Whether the user of a service can execute a program: the rights of each folder on its path, of the program and of its
// further files, and a run. The user is tried, not computed: groups, access lists and mounts count too.

import { spawnSync } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { dirname } from 'node:path';
import type { ServiceUnit } from './service-unit.ts';

export type ServiceUser = Pick<ServiceUnit, 'user' | 'group' | 'supplementaryGroups'>;

/** Milliseconds for a run of the program that prints its version. */
const TIME = 30_000;
/** Prints the first path that the user may not enter, execute (`x`) or read (`r`). */
const TRY = 'while [ $# -gt 1 ]; do test "$1" "$2" || { echo "$1 $2"; exit 1; }; shift 2; done';

/** The sentence about what the user may not do; undefined if nothing prevents the execution. */
export function executionProblem(user: ServiceUser, [program = '', ...files]: readonly string[]): string | undefined {
  const paths = [...new Set([program, ...files].flatMap((file) => [file, realPath(file)]))];
  const folders = [...new Set(paths.flatMap(parents))];
  const tests = [...folders, program].flatMap((path) => ['-x', path]);
  const { status, stdout } = asUser(user, ['sh', '-c', TRY, 'sh', ...tests, ...files.flatMap((file) => ['-r', file])]);
  const name = user.user ?? 'root';
  const [, right, path = ''] = /^-(\w) (.*)$/m.exec(stdout ?? '') ?? [];
  if (status === 0 || right === undefined) return undefined; // without `setpriv`, only the start of the service tells
  if (right === 'r') return `${name} may not read ${path}`;
  return path === program ? `${name} may not execute ${path}, or it does not exist` : `${name} may not enter ${path}`;
}

/** Runs the program as the user, so that it prints its version. Returns the sentence about its failure. */
export function runProblem(user: ServiceUser, command: readonly string[]): string | undefined {
  const { status, stderr, error } = asUser(user, [...command, '--version']);
  if (status === 0 || error !== undefined) return undefined;
  const line = stderr.trim().split('\n').at(-1) ?? '';
  return `${command.join(' ')} does not run as ${user.user ?? 'root'}${line === '' ? '' : `: ${line}`}`;
}

/** Undefined if there is no such user. */
export function userId(user: string): number | undefined {
  const text = id('-u', user);
  return text === '' ? undefined : Number(text);
}

function id(option: string, user: string): string {
  return spawnSync('id', [option, user], { encoding: 'utf8' }).stdout.trim();
}

function asUser({ user = 'root', group, supplementaryGroups }: ServiceUser, command: readonly string[]) {
  const groups = [...id('-G', user).split(/\s+/), ...supplementaryGroups].filter((each) => each !== '');
  const identity = [`--reuid=${id('-u', user)}`, `--regid=${group ?? id('-g', user)}`, `--groups=${groups.join(',')}`];
  return spawnSync('setpriv', [...identity, ...command], {
    cwd: '/',
    encoding: 'utf8',
    timeout: TIME,
    env: { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' },
  });
}

function parents(path: string): string[] {
  const folder = dirname(path);
  return folder === path ? [] : [...parents(folder), folder];
}

function realPath(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    return file; // the user finds that it does not exist
  }
}
