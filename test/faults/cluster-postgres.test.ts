// Random histories of three controllers with a PostgreSQL server, each behind a port of its own: clients write and read
// anywhere, while connections are cut and freeze, members are cut off and killed, a lock is held, and the server
// restarts and hangs. The judge of cluster.test.ts decides.

import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { IdSource } from '#lib/ids.ts';
import { silentLog } from '#lib/log/log.ts';
import { type Random, seededRandom } from '#lib/random.ts';
import { SystemClock } from '#lib/time/clock.ts';
import { State } from '../../controller-sim/state/state.ts';
import { PostgresStore } from '../../controller-sim/state/store/postgres-store.ts';
import type { SharedStore } from '../../controller-sim/state/store/shared-store.ts';
import { StoreWriteError } from '../../controller-sim/state/store/store.ts';
import type { Transaction } from '../../controller-sim/state/transaction.ts';
import { FaultyPort } from '../support/hostile/faulty-port.ts';
import { RELEASE } from '../support/house/thorough.ts';
import { Postgres, postgresObstacle } from '../support/programs/postgres.ts';
import { connectTo, memberInfo } from '../support/rooms/members.ts';
import { until } from '../support/until.ts';
import {
  contentsOf,
  countUp,
  giveName,
  hashOf,
  type Life,
  type Published,
  replace,
  type Write,
} from './cluster/history.ts';
import { judge } from './cluster/judge.ts';
import type { Committed } from './cluster/memory-log.ts';

const SEED = Number(process.env.FAULTS_SEED ?? 1);
const SECONDS = Number(process.env.FAULTS_SECONDS ?? (RELEASE ? 60 : 0));
/** Milliseconds that a message takes to the database, and the same back. */
const DELAY = Number(process.env.FAULTS_DELAY ?? 0);
const MEMBERS = 3;
/** Writers of each member. */
const WRITERS = 4;
/** Milliseconds between two faults. */
const PAUSE = 400;
/** Sets of changes of a history. The judge keeps them all, so the writers of a long one pause after each write. */
const MAX_SETS = 250_000;
const WRITE_PAUSE = Math.max(0, (SECONDS * 1_000 * MEMBERS * WRITERS) / MAX_SETS - 5);
const SKIP = SECONDS === 0 ? 'only for a release, or with FAULTS_SECONDS' : (postgresObstacle() ?? false);
const clock = new SystemClock();
t.setTimeout((SECONDS + 300) * 1_000);

interface Running {
  readonly state: State;
  readonly store: SharedStore;
  readonly life: Life;
  /** Index with which it began, and of each set. */
  readonly indexes: bigint[];
}

class Trial {
  readonly writes: Write[] = [];
  readonly violations: string[] = [];
  readonly lives: { readonly life: Life; readonly indexes: readonly bigint[] }[] = [];
  readonly #members: Running[] = [];
  readonly #ports: readonly FaultyPort[];
  readonly #url: string;
  readonly #postgres: Postgres;
  readonly #random: Random;
  readonly #end: number;
  readonly faults: string[] = [];
  #marks = 0;

  /** Each of the ports leads one member to the database. */
  constructor(url: string, { postgres, ports, random }: { postgres: Postgres; ports: FaultyPort[]; random: Random }) {
    this.#url = url;
    this.#postgres = postgres;
    this.#ports = ports;
    this.#random = random;
    this.#end = clock.monotonic() + SECONDS * 1_000;
  }

  async run(): Promise<void> {
    for (let member = 0; member < MEMBERS; member++) this.#members.push(await this.#start(member));
    const writers = Array.from({ length: MEMBERS * WRITERS }, (_, writer) => this.#writeUntilEnd(writer % MEMBERS));
    while (clock.monotonic() < this.#end) {
      await sleep(this.#random.next() * PAUSE);
      await this.#fault();
    }
    await Promise.all(writers);
    for (const { store } of this.#members) store.cutOff(false);
    const [first] = this.#members;
    await until(
      'a change after the faults',
      () => this.#write(first as Running).then((outcome) => outcome === 'acknowledged'),
      60_000,
    );
    await until(
      'the same data',
      () =>
        this.#members.every(({ state }) => state.index === first?.state.index && state.others?.problem === undefined),
      60_000,
    );
  }

  get contents(): string[] {
    return this.#members.map(({ state }) => contentsOf(state));
  }

  async close(): Promise<void> {
    for (const { state } of this.#members) await state.close();
  }

  async #start(member: number): Promise<Running> {
    const url = new URL(this.#url);
    url.port = String(this.#ports[member]?.port);
    const store = await PostgresStore.open(url.href, { clock, log: silentLog, history: MAX_SETS * 10 });
    const state = await State.open({ store, clock, ids: new IdSource() });
    await store.registry.join(memberInfo(`member ${member}`)); // its renewals notice what notifications do not
    const life: Life = { member, chain: '', contents: contentsOf(state), published: [] };
    const running: Running = { state, store, life, indexes: [state.index] };
    state.subscribe('observers', ({ changes, index, isReload }) => {
      const names = [...state.tables.service.values()].map(({ name }) => name);
      if (new Set(names).size < names.length) this.violations.push(`member ${member} has two services of one name`);
      running.indexes.push(index);
      const set: Published = {
        changes: hashOf(changes),
        isReload: isReload === true,
        chain: '',
        isWanted: false,
        contents: contentsOf(state),
      };
      life.published.push(set);
    });
    this.lives.push({ life, indexes: running.indexes });
    return running;
  }

  async #writeUntilEnd(member: number): Promise<void> {
    while (clock.monotonic() < this.#end) {
      const running = this.#members[member] as Running;
      const outcome = await this.#write(running);
      if (outcome !== 'acknowledged') await sleep(5);
      else if (this.#random.next() < 0.1) await this.#askElsewhere(running.state.index);
      if (WRITE_PAUSE > 0) await sleep(WRITE_PAUSE);
    }
  }

  async #write({ state }: Running): Promise<Write['outcome']> {
    const mark = `mark ${this.#marks++}`;
    const below = (limit: number) => Math.floor(this.#random.next() * limit);
    const works: ((transaction: Transaction) => void)[] = [
      (transaction) => giveName(transaction, { id: `s${below(6)}`, name: `name ${below(5)}` }, mark),
      (transaction) => replace(transaction, `s${below(6)}`, mark),
      (transaction) => countUp(transaction, `counter ${below(2)}`, mark),
    ];
    const work = works[below(works.length)] as (transaction: Transaction) => void;
    const outcome = await state.change(work).then(
      () => 'acknowledged' as const,
      (error: unknown) => (error instanceof StoreWriteError ? ('unknown' as const) : ('rejected' as const)),
    );
    this.writes.push({ mark, outcome });
    return outcome;
  }

  /** A member that says that it has read on knows what was acknowledged before. */
  async #askElsewhere(acknowledged: bigint): Promise<void> {
    const { state, life } = this.#members[Math.floor(this.#random.next() * MEMBERS)] as Running;
    const caughtUp = await state.others?.catchUp();
    if (caughtUp === 'same' && state.index < acknowledged)
      this.violations.push(`member ${life.member} has read on to ${state.index}, and ${acknowledged} was acknowledged`);
  }

  async #fault(): Promise<void> {
    const random = this.#random;
    const member = Math.floor(random.next() * MEMBERS);
    const running = this.#members[member] as Running;
    const faults: Readonly<Record<string, () => Promise<void>>> = {
      'cuts all connections': () => this.#postgres.disconnectAll().catch(() => undefined),
      "cuts a member's connections": async () => this.#ports[member]?.cutAll(),
      "freezes a member's connections": async () => {
        const port = this.#ports[member] as FaultyPort;
        while (port.open > 0) port.freeze();
      },
      'cuts a member off': async () => {
        running.store.cutOff(true);
        await sleep(random.next() * 1_500);
        running.store.cutOff(false);
      },
      'kills a member': async () => {
        running.store.cutOff(true);
        const closed = running.state.close();
        this.#members[member] = await this.#start(member);
        await closed;
      },
      'holds the lock': async () => {
        await using other = await connectTo(this.#url);
        await other.ask('BEGIN');
        await other.ask('SELECT 1 FROM edgeweave.head FOR UPDATE');
        await sleep(random.next() * 2_500);
      },
      'hangs the server': async () => {
        const suspended = await this.#postgres.suspend();
        await sleep(random.next() * 2_500);
        suspended.resume();
      },
      'restarts the server': async () => {
        await this.#postgres.kill();
        await sleep(random.next() * 1_000);
        await this.#postgres.restart();
      },
    };
    const names = Object.keys(faults);
    const name = names[Math.floor(random.next() * names.length)] ?? '';
    this.faults.push(name);
    await faults[name]?.();
  }
}

t.test(
  'histories on PostgreSQL have one order, the same data, and no lost write',
  { skip: SKIP, timeout: (SECONDS + 300) * 1_000 },
  async (t) => {
    await using postgres = await Postgres.start();
    const url = await postgres.database('network');
    await using cleanup = new AsyncDisposableStack();
    const ports: FaultyPort[] = [];
    for (let member = 0; member < MEMBERS; member++) {
      const port = cleanup.use(await FaultyPort.start(postgres.port));
      port.delay = () => DELAY;
      ports.push(port);
    }
    const trial = new Trial(url, { postgres, ports, random: seededRandom(SEED) });
    await trial.run();
    await using database = await connectTo(url);
    const rows = await database.ask('SELECT index, body, chain FROM edgeweave.change ORDER BY index');
    const chains = new Map<string, string>([['0', '']]);
    const committed = new Map<string, Committed>();
    let parent = '';
    for (const { index, body, chain } of rows) {
      committed.set(chain, { parent, entry: { index: BigInt(index), body, chain } });
      chains.set(String(index), chain);
      parent = chain;
    }
    const chainOf = (index: bigint | undefined) => chains.get(String(index)) ?? 'none';
    const lives = trial.lives.map(({ life, indexes }) => ({
      ...life,
      chain: chainOf(indexes[0]),
      published: life.published.map((set, place) => ({
        ...set,
        chain: set.isReload ? chainOf(indexes[place + 1]) : '',
      })),
    }));
    const { violations, writes, contents } = trial;
    const problems = contents.map(() => undefined);
    t.same(
      judge({ violations, lives, writes, committed, dropped: new Set(), head: parent, contents, problems }),
      [],
      `seed ${SEED}`,
    );
    const acknowledged = writes.filter(({ outcome }) => outcome === 'acknowledged').length;
    t.comment(`${acknowledged} acknowledged of ${writes.length}; ${trial.faults.length} faults`);
    t.ok(acknowledged > 0 && trial.faults.length > 0);
    await trial.close();
  },
);
