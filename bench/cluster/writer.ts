// A process that changes services in a database all the time: as a controller does, or as plain transactions of the
// same shape. The benchmark tells it how many writers it has, and for how long.

import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { IdSource } from '#lib/ids.ts';
import { silentLog } from '#lib/log/log.ts';
import { SystemClock } from '#lib/time/clock.ts';
import { Body } from '../../controller-sim/entities/body.ts';
import { createService } from '../../controller-sim/entities/service.ts';
import { State } from '../../controller-sim/state/state.ts';
import { PostgresStore } from '../../controller-sim/state/store/postgres-store.ts';

export interface Start {
  readonly url: string;
  readonly kind: 'controller' | 'transactions';
  /** Distinguishes the services of this process. */
  readonly name: string;
}

export interface Job {
  readonly writers: number;
  readonly milliseconds: number;
}

/** Milliseconds of each write, and between the first and the last one. */
export interface Outcome {
  readonly times: readonly number[];
  readonly milliseconds: number;
}

interface Writer {
  /** Changes the service of one writer. */
  write(writer: number): Promise<unknown>;
  close(): Promise<void>;
}

/** Services of one process, so that most changes replace an earlier one. */
const SERVICES = 100;

async function controller({ url, name }: Start): Promise<Writer> {
  const clock = new SystemClock();
  const store = await PostgresStore.open(url, { clock, log: silentLog });
  const state = await store.starting(() => State.open({ store, clock, ids: new IdSource() }));
  const ids = Array.from({ length: SERVICES }, (_, count) => `${name} ${count}`);
  await state.change((transaction) => {
    for (const id of ids)
      if (!transaction.get('service', id))
        createService(transaction, id, new Body({ name: id, encryptionRequired: true }, 'create'));
  });
  let count = 0;
  return {
    write: () => state.change((transaction) => transaction.patch('service', ids[count++ % SERVICES] ?? '', {})),
    close: () => state.close(),
  };
}

/** The statements of an append, with a body of the same length. */
async function transactions({ url, name }: Start): Promise<Writer> {
  const clients = new Map<number, Promise<pg.Client>>();
  const open = async () => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    return client;
  };
  const body = JSON.stringify({ id: name, text: 'x'.repeat(700) });
  const first = await open();
  await first.query(`CREATE SCHEMA IF NOT EXISTS plain;
    CREATE TABLE IF NOT EXISTS plain.head (id integer PRIMARY KEY, index bigint NOT NULL, chain text NOT NULL);
    CREATE TABLE IF NOT EXISTS plain.change (index bigint PRIMARY KEY, body text NOT NULL, chain text NOT NULL);
    CREATE TABLE IF NOT EXISTS plain.entity (kind text, id text, body text NOT NULL, PRIMARY KEY (kind, id));
    INSERT INTO plain.head VALUES (1, 0, '') ON CONFLICT DO NOTHING`);
  clients.set(0, Promise.resolve(first));
  let count = 0;
  const write = async (writer: number) => {
    const known = clients.get(writer) ?? open();
    clients.set(writer, known);
    const client = await known;
    const results = (await client.query(
      'BEGIN; SELECT index FROM plain.head FOR UPDATE',
    )) as unknown as pg.QueryResult[];
    const index = BigInt(results[1]?.rows[0].index) + 1n;
    await client.query(`INSERT INTO plain.change VALUES (${index}, '${body}${body}', '${'c'.repeat(64)}');
      UPDATE plain.head SET index = ${index}, chain = '${'c'.repeat(64)}';
      INSERT INTO plain.entity VALUES ('service', '${name} ${count++ % SERVICES}', '${body}')
        ON CONFLICT (kind, id) DO UPDATE SET body = excluded.body;
      SELECT pg_notify('plain', '${index}'); COMMIT`);
  };
  return {
    write,
    close: async () => {
      for (const client of clients.values()) await (await client).end();
    },
  };
}

async function run({ write }: Writer, { writers, milliseconds }: Job): Promise<Outcome> {
  const times: number[] = [];
  const began = performance.now();
  const loop = async (writer: number) => {
    for (let start = performance.now(); start - began < milliseconds; ) {
      await write(writer);
      const end = performance.now();
      times.push(end - start);
      start = end;
    }
  };
  await Promise.all(Array.from({ length: writers }, (_, writer) => loop(writer)));
  return { times, milliseconds: performance.now() - began };
}

let opened: Promise<Writer> | undefined;
process.on('message', async (message: Start | Job) => {
  if ('url' in message) {
    opened = message.kind === 'controller' ? controller(message) : transactions(message);
    await opened;
    process.send?.('ready');
  } else if (opened) process.send?.(await run(await opened, message));
});
process.once('disconnect', async () => {
  const closing = opened?.then((writer) => writer.close());
  await Promise.race([closing, sleep(1_000)]);
  process.exit(0);
});
