// Runs the steps of a history at controllers with a common database, and records what clients and members saw.

import { createHash } from 'node:crypto';
import { IdSource } from '#lib/ids.ts';
import { silentLog } from '#lib/log/log.ts';
import { seededRandom } from '#lib/random.ts';
import { settle, VirtualClock } from '#lib/time/clock.ts';
import type { ChangeSet } from '../../../controller-sim/state/change.ts';
import { State } from '../../../controller-sim/state/state.ts';
import type { LogOwner } from '../../../controller-sim/state/store/change-log.ts';
import { LogStore } from '../../../controller-sim/state/store/log-store.ts';
import { StoreWriteError } from '../../../controller-sim/state/store/store.ts';
import type { Transaction } from '../../../controller-sim/state/transaction.ts';
import { service } from '../../support/rooms/members.ts';
import { type Committed, MemoryDatabase, MemoryLog } from './memory-log.ts';
import { MEMBERS, type Step } from './steps.ts';

/** A set that a member has published. Long histories have many: texts are kept as their hashes. */
export interface Published {
  /** Hash of the changes in JSON. */
  readonly changes: string;
  readonly isReload: boolean;
  /** A reload takes the data at this chain. */
  readonly chain: string;
  /** An operator wants it. */
  readonly isWanted: boolean;
  /** Hash of all services afterwards. */
  readonly contents: string;
}

/** The life of one process. */
export interface Life {
  readonly member: number;
  /** Chain of the data that it began with. */
  readonly chain: string;
  readonly contents: string;
  readonly published: Published[];
}

export interface Write {
  readonly mark: string;
  readonly outcome: 'acknowledged' | 'rejected' | 'unknown';
}

export interface Seen {
  /** Violations that were seen at once. */
  readonly violations: string[];
  readonly lives: Life[];
  readonly writes: Write[];
  readonly committed: ReadonlyMap<string, Committed>;
  /** Chains of the entries that a restore has dropped. */
  readonly dropped: ReadonlySet<string>;
  /** Chain of the head at the end, and of each member. */
  readonly head: string;
  readonly contents: readonly string[];
  readonly problems: readonly (string | undefined)[];
}

interface Running {
  readonly log: MemoryLog;
  readonly state: State;
  readonly life: Life;
  rejoins: number;
}

/** Milliseconds in which a member reads on, or is found to have a problem, once nothing fails. */
const CALM = 5_000;
const MAX_ASK_MS = 2_000;

export class History {
  readonly #clock = new VirtualClock();
  readonly #ids = new IdSource(seededRandom(1));
  readonly #database = new MemoryDatabase();
  readonly #members: Running[] = [];
  readonly #lives: Life[] = [];
  readonly #writes: Write[] = [];
  readonly #violations: string[] = [];
  readonly #dropped = new Set<string>();
  readonly #pending = new Set<Promise<unknown>>();
  #copy: MemoryDatabase['content'] | undefined;
  #undamaged: MemoryDatabase['content'] | undefined;
  /** Index of the last acknowledged write of the present history. */
  #acknowledged = 0n;
  #marks = 0;

  static async run(steps: readonly Step[]): Promise<Seen> {
    const history = new History();
    for (let member = 0; member < MEMBERS; member++) history.#members.push(await history.#start(member));
    for (const step of steps) await history.#do(step);
    return history.#end();
  }

  async #start(member: number): Promise<Running> {
    const opened = Promise.withResolvers<MemoryLog>();
    const openLog = (owner: LogOwner) => {
      const log = new MemoryLog(this.#database, owner);
      opened.resolve(log);
      return log;
    };
    const store = new LogStore(openLog, { clock: this.#clock, log: silentLog });
    const log = await opened.promise;
    const state = await State.open({ store, clock: this.#clock, ids: this.#ids });
    const life: Life = { member, chain: log.loaded, contents: contentsOf(state), published: [] };
    const running: Running = { log, state, life, rejoins: 0 };
    state.subscribe('observers', (set) => this.#publish(running, set));
    this.#lives.push(life);
    return running;
  }

  #publish({ log, state, life, rejoins }: Running, { changes, isReload }: ChangeSet): void {
    const names = [...state.tables.service.values()].map(({ name }) => name);
    if (new Set(names).size < names.length) this.#violations.push(`member ${life.member} has two services of one name`);
    life.published.push({
      changes: hashOf(changes),
      isReload: isReload === true,
      chain: isReload ? log.loaded : '',
      isWanted: rejoins > 0,
      contents: contentsOf(state),
    });
  }

  async #do(step: Step): Promise<void> {
    const member = 'member' in step ? this.#members[step.member] : undefined;
    if (member) this.#doAt(member, step);
    else this.#doToAll(step);
    if (step.do === 'kill') await this.#restart(step.member);
    if (step.do === 'wait') await this.#pass(step.milliseconds);
    await settle();
  }

  #doAt(running: Running, step: Step): void {
    const { log } = running;
    switch (step.do) {
      case 'name':
        return this.#write(running, (transaction, mark) => giveName(transaction, step, mark));
      case 'delete':
        return this.#write(running, (transaction, mark) => replace(transaction, step.id, mark));
      case 'count':
        return this.#write(running, (transaction, mark) => countUp(transaction, step.id, mark));
      case 'ask':
        return this.#ask(running, async (state) => (await state.others?.catchUp()) !== 'unread');
      case 'ask with index':
        return this.#ask(running, async (state, index) => (await state.others?.reach(index, MAX_ASK_MS)) === true);
      case 'part':
        log.isAway = true;
        return;
      case 'deafen':
        log.isDeaf = true;
        return;
      case 'lose answer':
        log.losesNextAnswer = true;
        return;
      case 'heal':
        log.isAway = false;
        log.isDeaf = false;
        log.notify(this.#database.content.head.index);
        return;
      case 'renew':
        return log.renew();
      case 'rejoin':
        return this.#rejoin(running);
      default:
    }
  }

  #doToAll(step: Step): void {
    const database = this.#database;
    const { content } = database;
    switch (step.do) {
      case 'copy':
        if (!this.#undamaged) this.#copy = content;
        return;
      case 'restore':
        if (this.#copy) this.#restore(this.#copy);
        return;
      case 'repair':
        return this.#repair();
      case 'swap':
      case 'drop':
      case 'garble': {
        const index = content.head.index - BigInt(step.back);
        this.#undamaged ??= content;
        return database.edit(index, (entry) => {
          if (step.do === 'drop') return undefined;
          const other = content.entries.find((each) => each.index === index - 1n)?.body;
          return { ...entry, body: step.do === 'garble' || other === undefined ? '{' : other };
        });
      }
      default:
    }
  }

  /** A repair brings back what the log had before the first damage: a row of later that was dropped stays missing. */
  get #isDamaged(): boolean {
    const { entries, head } = this.#database.content;
    return this.#undamaged !== undefined || BigInt(entries.length) < head.index;
  }

  /** The copy may be as old or as new as the data: then it drops nothing. */
  #restore(copy: MemoryDatabase['content']): void {
    const kept = this.#database.pathTo(copy.head.chain);
    for (const chain of this.#database.pathTo(this.#database.content.head.chain)) this.#dropped.add(chain);
    for (const chain of kept) this.#dropped.delete(chain);
    this.#database.restore(copy);
    this.#undamaged = undefined;
    this.#acknowledged = 0n; // what clients know is of another history
  }

  /** Later entries stay: only the rows of the log are damaged, not the head. */
  #repair(): void {
    const { content } = this.#database;
    const whole = new Map(
      [...(this.#undamaged?.entries ?? []), ...content.entries].map((entry) => [entry.index, entry]),
    );
    for (const entry of this.#undamaged?.entries ?? []) whole.set(entry.index, entry);
    const entries = [...whole.values()].sort((one, other) => Number(one.index - other.index));
    this.#database.content = { ...content, entries };
    this.#undamaged = undefined;
  }

  #write(running: Running, work: (transaction: Transaction, mark: string) => void): void {
    const mark = `mark ${this.#marks++}`;
    const done = running.state
      .change((transaction) => work(transaction, mark))
      .then(
        () => {
          this.#writes.push({ mark, outcome: 'acknowledged' });
          if (running.rejoins === 0 && this.#isPresent(mark)) this.#acknowledged = running.state.index;
        },
        (error: unknown) => {
          const isUnknown = error instanceof StoreWriteError;
          this.#writes.push({ mark, outcome: isUnknown ? 'unknown' : 'rejected' });
        },
      );
    this.#note(done);
  }

  /** Whether the database has it now: it may have been restored since. */
  #isPresent(mark: string): boolean {
    return this.#database.content.entries.some(({ body }) => body.includes(`"${mark}"`));
  }

  /** Once a member has read on, nothing that was acknowledged before is unknown to it. */
  #ask(running: Running, read: (state: State, index: bigint) => Promise<boolean>): void {
    const { state, log, life } = running;
    const index = this.#acknowledged;
    const { failures } = log;
    const wasDamaged = this.#isDamaged;
    const asked = read(state, index).then((isThere) => {
      // It may say that it does not follow, and then clients know that they may read old data.
      const mayLag =
        log.failures > failures ||
        wasDamaged ||
        this.#isDamaged ||
        state.others?.problem !== undefined ||
        this.#acknowledged < index;
      if (state.index < index && !mayLag)
        this.#violations.push(`member ${life.member} was asked for ${index} (${isThere}) and is at ${state.index}`);
    });
    this.#note(asked);
  }

  #rejoin(running: Running): void {
    running.rejoins++;
    const done = Promise.resolve(running.state.others?.rejoin()).then(
      () => undefined,
      () => undefined, // it stays as it is
    );
    this.#note(done.finally(() => void running.rejoins--));
  }

  async #restart(index: number): Promise<void> {
    const killed = this.#members[index];
    await killed?.log.close();
    if (killed) this.#note(killed.state.close());
    const start = this.#start(index).then(
      (running) => void this.#members.splice(index, 1, running),
      () => undefined, // the database is damaged: it starts later
    );
    await this.#calm(start);
  }

  #note(work: Promise<unknown>): void {
    this.#pending.add(work);
    void work.finally(() => this.#pending.delete(work));
  }

  /** The time passes in steps: work without a timer needs turns of the event loop. */
  async #pass(milliseconds: number): Promise<void> {
    const steps = Math.min(1 + milliseconds, 50);
    for (let step = 0; step < steps; step++) await this.#clock.advance(milliseconds / steps);
  }

  /** Lets the time pass until `work` is done. */
  async #calm(work: Promise<unknown>): Promise<void> {
    let isDone = false;
    void work.finally(() => {
      isDone = true;
    });
    for (let time = 0; time < CALM && !isDone; time += 10) await this.#clock.advance(isDone ? 0 : 10);
  }

  /** Ends all faults, lets members with another history rejoin, and compares all. */
  async #end(): Promise<Seen> {
    this.#repair();
    for (const { log } of this.#members) Object.assign(log, { isAway: false, isDeaf: false, losesNextAnswer: false });
    for (const [index, { log }] of this.#members.entries())
      if (!this.#database.logs.has(log)) await this.#restart(index);
    await this.#pass(CALM);
    for (const { log } of this.#members) log.renew();
    await this.#pass(CALM);
    for (const running of this.#members) if (running.state.others?.problem !== undefined) this.#rejoin(running);
    await this.#pass(CALM);
    if (this.#pending.size > 0) this.#violations.push(`${this.#pending.size} requests have no answer`);
    const seen: Seen = {
      violations: this.#violations,
      lives: this.#lives,
      writes: this.#writes,
      committed: this.#database.committed,
      dropped: this.#dropped,
      head: this.#database.content.head.chain,
      contents: this.#members.map(({ state }) => contentsOf(state)),
      problems: this.#members.map(({ state }) => state.others?.problem),
    };
    for (const { state } of this.#members) await state.close();
    return seen;
  }
}

/** A name belongs to one service. */
export function giveName(transaction: Transaction, { id, name }: { id: string; name: string }, mark: string): void {
  const owner = transaction.tables.service.findBy('name', name);
  if (owner && owner.id !== id) throw new Error('the name is taken');
  transaction.put('service', { ...service(id, name), tags: { mark } });
}

/** Another service takes the place of this one, and of the one that has taken it before: a set with several changes. */
export function replace(transaction: Transaction, id: string, mark: string): void {
  const earlier = [...transaction.tables.service.values()].filter((each) => each.id.startsWith(`${id} `));
  for (const each of [id, ...earlier.map((heir) => heir.id)]) transaction.delete('service', each);
  const heir = `${id} ${mark}`;
  transaction.put('service', { ...service(heir, heir), tags: { mark } });
}

/** A lost update shows in the data of the log. */
export function countUp(transaction: Transaction, id: string, mark: string): void {
  const before = transaction.get('service', id) ?? service(id, id);
  transaction.put('service', { ...before, maxIdleTimeMillis: before.maxIdleTimeMillis + 1, tags: { mark } });
}

export function contentsOf({ tables }: State): string {
  return hashOfServices(tables.service.values());
}

/** The order of their ids counts, not that in which they are given. */
export function hashOfServices(services: Iterable<{ readonly id: string }>): string {
  return hashOf([...services].sort((one, other) => (one.id < other.id ? -1 : 1)));
}

export function hashOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('base64');
}
