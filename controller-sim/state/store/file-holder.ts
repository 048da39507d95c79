// Finds the process that holds a file open, where /proc reveals it (Linux, processes of the same user).

import { readdirSync, readFileSync, readlinkSync, realpathSync } from 'node:fs';
import { THIS_PROCESS } from '#lib/net/port-holder.ts';

/** Limits on inspected processes and their open files, so that a failing start stays quick. */
const MAX_PROCESSES = 10_000;
const MAX_FILES = 1_000;
const MAX_COMMAND_LENGTH = 200;

/** `process 123 (node cli.ts start)`, THIS_PROCESS, or undefined if /proc does not reveal it. */
export function holderOf(file: string): string | undefined {
  const path = quietly(() => realpathSync(file));
  if (path === undefined) return undefined;
  const processes = (quietly(() => readdirSync('/proc')) ?? []).filter((name) => /^\d+$/.test(name));
  const pid = processes
    .filter((name) => Number(name) !== process.pid)
    .slice(0, MAX_PROCESSES)
    .find((name) => hasOpen(name, path));
  if (pid !== undefined) return `process ${pid} (${commandOf(pid)})`;
  return hasOpen('self', path) ? THIS_PROCESS : undefined;
}

function hasOpen(pid: string, path: string): boolean {
  const folder = `/proc/${pid}/fd`;
  const files = quietly(() => readdirSync(folder)) ?? [];
  return files.slice(0, MAX_FILES).some((name) => quietly(() => readlinkSync(`${folder}/${name}`)) === path);
}

/** Up to the first option: options may contain passwords. */
function commandOf(pid: string): string {
  const words = (quietly(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8')) ?? '').split('\0').filter(Boolean);
  const option = words.findIndex((word, index) => index > 0 && word.startsWith('-'));
  const command = words.slice(0, option < 0 ? undefined : option).join(' ');
  return command === '' ? 'unknown command' : command.slice(0, MAX_COMMAND_LENGTH);
}

function quietly<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined; // the process has exited or belongs to another user, or /proc is missing
  }
}
