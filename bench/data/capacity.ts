// Computes what a router would carry on machines with more cores, from the processor time that a GiB costs it on this
// one: a thread that decides everything carries at most one GiB in the time that it needs for one, and all threads
// together use at most all cores. It assumes that the other threads' work spreads over the cores, and that those are as
// fast as the cores of this machine.

import type { Row } from '../report.ts';
import { toRows, type Values } from '../rounds.ts';

/** The routers of a path, in the order of their usage. */
export const ROUTERS = ['entry', 'exit'];
const CORES = [4, 8, 16];

/** Seconds of processor time for a GiB. */
export interface Cost {
  /** On the thread that decides; undefined if no single one does. */
  readonly serial: number | undefined;
  readonly total: number;
}

/** GiB per second of one router. */
export function capacity(cores: number, { serial, total }: Cost): number {
  return Math.min(serial === undefined ? Number.POSITIVE_INFINITY : 1 / serial, cores / total);
}

/**
 * Rows for each number of cores: GiB per second of the router that carries less, if each has a machine of its own.
 * `measured` has the columns `cpu ROUTER` and `serial ROUTER` of the group. Subjects without processor time have no
 * rows.
 */
export function capacityRows(
  group: string,
  measured: ReadonlyMap<string, readonly Values[]>,
  subjects: readonly string[],
): Row[] {
  const counted = subjects.filter((subject) => measured.get(subject)?.every(isCounted));
  return CORES.flatMap((cores) => {
    const rounds = (subject: string) =>
      measured.get(subject)?.map((each) => ({ computed: slowest(cores, each) })) ?? [];
    const computed = new Map(counted.map((subject) => [subject, rounds(subject)]));
    return toRows(`computed: a router on ${cores} cores, ${group}`, computed, '');
  });
}

function isCounted(values: Values): boolean {
  return ROUTERS.every((router) => values[`cpu ${router}`]);
}

function slowest(cores: number, values: Values): number {
  const costs = ROUTERS.map((router) => ({ serial: values[`serial ${router}`], total: values[`cpu ${router}`] ?? 0 }));
  return Math.min(...costs.map((cost) => capacity(cores, cost)));
}
