// `npm run bench -- cluster`: changes of controllers with a common PostgreSQL database, on this machine and with a
// durable disk, beside plain transactions of the same shape: a lock, an entry of a log, its head, one entity, a
// notification. Each member is a process; so is the program of the plain transactions, with a connection for each
// writer.

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { Postgres, postgresObstacle } from '../../test/support/programs/postgres.ts';
import { endChild } from '../end-child.ts';
import { quantile } from '../quantile.ts';
import { type Benchmark, type Column, isWanted, labelOf, type Row, type Work } from '../report.ts';
import { toRows, type Values } from '../rounds.ts';
import type { Job, Outcome, Start } from './writer.ts';

const COLUMNS: Readonly<Record<string, Column>> = {
  changes: { unit: '/s', better: 'higher', meaning: 'acknowledged changes of all writers' },
  'change p50': { unit: 'ms', better: 'lower', meaning: 'typical time of a change' },
  'change p99': { unit: 'ms', better: 'lower', meaning: 'the same, of the slowest of 100' },
};
const YARDSTICK = 'transactions';
const WORKS: readonly Work[] = [1, 16, 48].map((writers) => ({ group: 'changes', sizes: { writers } }));
const MEMBERS = 3;
/** Milliseconds in which a process runs before it is measured. */
const WARM_UP = 1_000;
const STOP_TIME = 5_000;

interface Sizes {
  readonly rounds: number;
  readonly milliseconds: number;
  readonly warmUp: number;
}

const FULL: Sizes = { rounds: 5, milliseconds: 4_000, warmUp: WARM_UP };
const QUICK: Sizes = { rounds: 1, milliseconds: 200, warmUp: 0 };

class WriterProcess implements AsyncDisposable {
  readonly #child: ChildProcess = fork(join(import.meta.dirname, 'writer.ts'));

  static async start(start: Start): Promise<WriterProcess> {
    const writer = new WriterProcess();
    writer.#child.send(start);
    await once(writer.#child, 'message');
    return writer;
  }

  async run(job: Job): Promise<Outcome> {
    this.#child.send(job);
    const [outcome] = await once(this.#child, 'message');
    return outcome as Outcome;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const kill = () => void this.#child.kill('SIGKILL');
    await endChild(this.#child, () => this.#child.disconnect(), { milliseconds: STOP_TIME, kill });
  }
}

export const cluster: Benchmark = {
  groups: () => WORKS.map(labelOf),
  async measure(options, progress) {
    const sizes = options.quick ? QUICK : FULL;
    const obstacle = postgresObstacle();
    const rows =
      obstacle === undefined
        ? await measureAll(
            sizes,
            WORKS.filter((work) => isWanted(work, options)),
            progress,
          )
        : [];
    return {
      name: 'cluster',
      title: 'Several controllers',
      columns: COLUMNS,
      yardstick: YARDSTICK,
      rows,
      notes: obstacle === undefined ? [] : [`nothing was measured: ${obstacle}`],
      plots: [],
      rounds: sizes.rounds,
    };
  },
};

async function measureAll(sizes: Sizes, works: readonly Work[], progress: (text: string) => void): Promise<Row[]> {
  await using postgres = await Postgres.start({ isDurable: true });
  await using started = new AsyncDisposableStack();
  const url = await postgres.database('network');
  const start = async (kind: Start['kind'], name: string) =>
    started.use(await WriterProcess.start({ url, kind, name }));
  const plain = await start('transactions', 'plain');
  const members: WriterProcess[] = [];
  for (let count = 0; count < MEMBERS; count++) members.push(await start('controller', `member ${count}`));
  const subjects: readonly (readonly [string, readonly WriterProcess[]])[] = [
    [YARDSTICK, [plain]],
    ['one controller', members.slice(0, 1)],
    ['three controllers', members],
  ];
  const rows: Row[] = [];
  for (const work of works) {
    progress(labelOf(work));
    const writers = work.sizes?.writers ?? 1;
    // A writer belongs to one process.
    const able = subjects.filter(([, processes]) => writers >= processes.length);
    const measured = new Map<string, Values[]>(able.map(([subject]) => [subject, []]));
    for (const [, processes] of able) await measure(processes, writers, sizes.warmUp);
    for (let round = 0; round < sizes.rounds; round++)
      for (const [subject, processes] of able)
        measured.get(subject)?.push(await measure(processes, writers, sizes.milliseconds));
    rows.push(...toRows(work, measured, YARDSTICK));
  }
  return rows;
}

async function measure(processes: readonly WriterProcess[], writers: number, milliseconds: number): Promise<Values> {
  const shares = processes.map((_, place) => Math.ceil((writers - place) / processes.length));
  const outcomes = await Promise.all(
    processes.map((process, place) => process.run({ writers: shares[place] ?? 0, milliseconds })),
  );
  const times = outcomes.flatMap((outcome) => outcome.times).sort((one, other) => one - other);
  const rate = outcomes.reduce((sum, outcome) => sum + (outcome.times.length / outcome.milliseconds) * 1_000, 0);
  return { changes: rate, 'change p50': quantile(times, 0.5), 'change p99': quantile(times, 0.99) };
}
