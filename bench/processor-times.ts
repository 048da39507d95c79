// Reads how much processor time the machine, other machines on its host, and this program with its children have used.
// Linux only; elsewhere nothing is counted.

import { readdirSync, readFileSync } from 'node:fs';

/** Times of all processors since any moment, in any unit. */
export interface ProcessorTimes {
  readonly busy: number;
  readonly stolen: number;
  /** The part of `busy` that this program and its children used. */
  readonly own: number;
}

const PROC = '/proc';
/** Positions of the fields of /proc/PID/stat behind the name of the program (proc_pid_stat(5)). */
const Field = Object.freeze({ Parent: 1, User: 11, System: 12, EndedUser: 13, EndedSystem: 14 } as const);

interface ProcessTime {
  readonly pid: number;
  readonly parent: number;
  /** With its children that have ended. */
  readonly time: number;
}

/** Hundredths of a second since the system started; zeros where it does not count them. */
export function readProcessorTimes(): ProcessorTimes {
  const [line = ''] = read(`${PROC}/stat`).split('\n', 1);
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, stolen = 0] = line.split(/ +/).slice(1).map(Number);
  return { busy: user + nice + system + irq + softirq, stolen, own: timeOfTree(process.pid, processes()) };
}

/** The time of a process and of all processes below it. */
export function timeOfTree(root: number, all: readonly ProcessTime[]): number {
  const children = Map.groupBy(all, ({ parent }) => parent);
  const waiting = all.filter(({ pid }) => pid === root);
  let time = 0;
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    time += next.time;
    waiting.push(...(children.get(next.pid) ?? []));
  }
  return time;
}

/** A line of /proc/PID/stat; undefined if it is not one. The name of a program may contain blanks and parentheses. */
export function processTimeOf(stat: string): ProcessTime | undefined {
  const end = stat.lastIndexOf(')');
  const fields = stat.slice(end + 2).split(' ');
  const at = (field: number) => Number(fields[field]);
  const time = at(Field.User) + at(Field.System) + at(Field.EndedUser) + at(Field.EndedSystem);
  const pid = Number.parseInt(stat, 10);
  return end < 0 || Number.isNaN(pid + time) ? undefined : { pid, parent: at(Field.Parent), time };
}

function processes(): ProcessTime[] {
  let names: string[] = [];
  try {
    names = readdirSync(PROC);
  } catch {
    return []; // the system has no such folder
  }
  return names
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => processTimeOf(read(`${PROC}/${name}/stat`)) ?? []);
}

/** Empty if the file is missing: processes end at any time. */
function read(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return '';
  }
}
