// `npm run bench -- lab`: how long a test waits for the simulator: starts in process and as a process, restores,
// networks with real routers, many simulators side by side. Measured is the built package, as users load it. The
// yardstick is a bare fastify over TLS, which any simulator in JavaScript needs. Each measurement is a new process; the
// subjects take turns.

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { timeToBare, timeToReady } from '../api/programs.ts';
import { serverCertificate } from '../certificate.ts';
import { endChild } from '../end-child.ts';
import { type Benchmark, type Column, isWanted, labelOf, type Row, type Work } from '../report.ts';
import { toRows, type Values } from '../rounds.ts';
import type { Task } from './measure.ts';
import { buildPackage, SIM_COMMAND } from './package.ts';

const COLUMNS: Readonly<Record<string, Column>> = {
  ready: { unit: 'ms', better: 'lower', meaning: 'from the call, with the load of the program, until it is ready' },
  closed: { unit: 'ms', better: 'lower', meaning: 'until everything is closed' },
  restore: { unit: 'ms', better: 'lower', meaning: 'until the state of a snapshot is back' },
  memory: { unit: 'MiB', better: 'lower', meaning: 'resident memory of the process' },
};
const YARDSTICK = 'bare fastify';
/** Milliseconds of one measurement. */
const TIMEOUT_MS = 120_000;

interface Certificate {
  readonly key: string;
  readonly cert: string;
}

type Subject = readonly [name: string, measure: () => Promise<Values>];

interface Sizes {
  readonly rounds: number;
  readonly identities: number;
  readonly routers: number;
  readonly simulators: number;
}

const FULL: Sizes = { rounds: 7, identities: 10_000, routers: 3, simulators: 50 };
const QUICK: Sizes = { rounds: 1, identities: 100, routers: 2, simulators: 3 };

export const lab: Benchmark = {
  groups: (options) => works(options.quick ? QUICK : FULL).map(([work]) => labelOf(work)),
  async measure(options, progress) {
    const sizes = options.quick ? QUICK : FULL;
    await buildPackage();
    const certificate = await serverCertificate();
    const rows: Row[] = [];
    for (const [work, subjectsOf] of works(sizes)) {
      if (!isWanted(work, options)) continue;
      progress(labelOf(work));
      const subjects = subjectsOf(certificate);
      const measured = new Map<string, Values[]>(subjects.map(([name]) => [name, []]));
      for (let round = 0; round < sizes.rounds; round++)
        for (const [name, measure] of subjects) measured.get(name)?.push(await measure());
      rows.push(...toRows(work, measured, YARDSTICK));
    }
    return {
      name: 'lab',
      title: 'The simulator in tests',
      columns: COLUMNS,
      yardstick: YARDSTICK,
      rows,
      notes: [
        'measured is the package that `npm run build` makes, loaded by its entry `edgeweave/sim`, not the sources',
        'goals: in process 150 ms (first) and 80 ms (later), as a process 450 ms, 110 MiB resident; a restore of 10,000 changed identities 100 ms; three routers ready after 800 ms and closed after 50 ms',
      ],
      plots: [],
      rounds: sizes.rounds,
    };
  },
};

function works(sizes: Sizes): readonly (readonly [Work, (certificate: Certificate) => readonly Subject[]])[] {
  const { identities, routers, simulators } = sizes;
  const task = (name: string, work: Task): Subject => [name, () => run(work)];
  return [
    [
      { group: 'start in process' },
      (certificate) => [
        task(YARDSTICK, { kind: 'bare', ...certificate }),
        task('startSimulator, first', { kind: 'start', times: 1 }),
        task('startSimulator, later', { kind: 'start', times: 5 }),
      ],
    ],
    [
      { group: 'start as a process' },
      (certificate) => [
        [YARDSTICK, async () => ({ ready: await timeToBare(certificate) })],
        ['sim start', async () => ({ ready: await timeToReady([], SIM_COMMAND) })],
      ],
    ],
    [{ group: 'restore', sizes: { identities } }, () => [task('restore', { kind: 'restore', identities })]],
    [{ group: 'network', sizes: { routers } }, () => [task('startNetwork', { kind: 'network', routers })]],
    [
      { group: 'side by side', sizes: { simulators } },
      () => [task('startSimulator', { kind: 'together', simulators })],
    ],
  ];
}

/** Rejects if the process ends without an answer, or has none in time. */
async function run(task: Task): Promise<Values> {
  const child = fork(join(import.meta.dirname, 'measure.ts'));
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  try {
    const ended = once(child, 'exit', { signal }).then(([code]) => {
      throw new Error(`the measurement ${task.kind} ended with code ${code}`);
    });
    ended.catch(() => undefined); // after an answer, the end is expected
    child.send(task);
    const [values] = await Promise.race([once(child, 'message', { signal }), ended]);
    return values as Values;
  } finally {
    await endChild(child, () => child.kill('SIGTERM'));
  }
}
