// The waiting tasks of a task queue: which of them starts next, and which may wait at all. Owners take turns, and no
// owner gets the last free workers or places: an owner whose tasks hang leaves room for others.
// The targets of an owner's tasks take turns within its turn, and have the same shares: neither one owner with many
// targets nor one target that hangs for many owners uses up the queue, nor one target of an owner the owner's share.
//
//   an owner may use another worker (place) while it uses less than SHARE times the free ones: alone 3/4 of all, two
//   owners 3/7 each, three 3/10 each (dynamic thresholds, Choudhury and Hahne, IEEE/ACM Transactions on Networking 6/2)

import type { Queue, QueueAddOptions } from 'p-queue';
import { InvariantError } from '../errors.ts';

const SHARE = 3;

/** Sharers of the queue. Undefined stands for the program itself: no share limits it. */
export interface Claim {
  readonly owner?: string | undefined;
  readonly target?: string | undefined;
}

/** p-queue gives each task an id. */
export type FairTaskOptions = Claim & QueueAddOptions;

export type RunTask = () => Promise<unknown>;

interface Use {
  running: number;
  waiting: number;
}

interface Owner extends Use {
  /** Those with tasks, by target; whose turn is next comes first. */
  readonly targets: Map<string | undefined, OwnTarget>;
}

/** The tasks of one owner for one target. */
interface OwnTarget {
  running: number;
  /** By id, in their order. */
  readonly waiting: Map<string, RunTask>;
}

const NO_USE: Readonly<Use> = { running: 0, waiting: 0 };

export class FairTasks implements Queue<RunTask, FairTaskOptions> {
  /** Limits on waiting and on running tasks. */
  readonly #length: number;
  readonly #workers: number;
  /** Those with tasks; whose turn is next comes first. */
  readonly #owners = new Map<string | undefined, Owner>();
  /** Those with tasks. */
  readonly #targets = new Map<string | undefined, Use>();
  /** The claims of the waiting tasks, by id. */
  readonly #claims = new Map<string, Claim>();
  #busy = 0;

  constructor({ length, workers }: { readonly length: number; readonly workers: number }) {
    this.#length = length;
    this.#workers = workers;
  }

  /** Number of waiting tasks. */
  get depth(): number {
    return this.#claims.size;
  }

  /** Number of running tasks, up to their `done`: p-queue no longer counts one whose signal has aborted. */
  get busy(): number {
    return this.#busy;
  }

  /** p-queue calls `dequeue` while a worker is free and this is not 0. Tasks that may not start do not count. */
  get size(): number {
    return this.#next() ? this.depth : 0;
  }

  /** Whether a task may not even wait. A free worker starts a task at once, so that a length of 0 works. */
  isFull({ owner, target }: Claim): boolean {
    const own = this.#owners.get(owner);
    const all = this.#targets.get(target) ?? NO_USE;
    const both = own?.targets.get(target);
    const { running, waiting } = own ?? NO_USE;
    const free = this.#workers - this.#busy;
    const places = this.#length - this.depth;
    const mayRun = has(owner, running, free) && has(target, all.running, free);
    if (waiting === 0 && this.depth < free && mayRun && hasOf(owner, running, target, both?.running ?? 0, free))
      return false;
    const mayWait = has(owner, waiting, places) && has(target, all.waiting, places);
    return !mayWait || !hasOf(owner, waiting, target, both?.waiting.size ?? 0, places);
  }

  enqueue(run: RunTask, { id = '', owner: name, target }: FairTaskOptions = {}): void {
    const owner = this.#owners.get(name) ?? { ...NO_USE, targets: new Map<string | undefined, OwnTarget>() };
    const all = this.#targets.get(target) ?? { ...NO_USE };
    const both = owner.targets.get(target) ?? { running: 0, waiting: new Map<string, RunTask>() };
    this.#owners.set(name, owner);
    this.#targets.set(target, all);
    owner.targets.set(target, both);
    both.waiting.set(id, run);
    this.#claims.set(id, { owner: name, target });
    owner.waiting++;
    all.waiting++;
  }

  /** Removes a waiting task. */
  remove(id: string): void {
    const claim = this.#claims.get(id);
    if (!claim) return;
    this.#take(id, claim);
    this.#forget(claim);
  }

  /** Takes a worker for the next task; undefined if none may start. Call `done` with its claim at its end. */
  dequeue(): RunTask | undefined {
    const next = this.#next();
    if (!next) return undefined;
    const { id, run, claim } = next;
    const owner = this.#owners.get(claim.owner) as Owner;
    const both = owner.targets.get(claim.target) as OwnTarget;
    this.#take(id, claim);
    for (const use of [owner, this.#targets.get(claim.target) as Use, both]) use.running++;
    this.#busy++;
    // The others are next.
    this.#owners.delete(claim.owner);
    this.#owners.set(claim.owner, owner);
    owner.targets.delete(claim.target);
    owner.targets.set(claim.target, both);
    return run;
  }

  done(claim: Claim): void {
    const owner = this.#owners.get(claim.owner);
    const all = this.#targets.get(claim.target);
    const both = owner?.targets.get(claim.target);
    if (!owner || !all || !both) return;
    for (const use of [owner, all, both]) use.running--;
    this.#busy--;
    this.#forget(claim);
  }

  /** The waiting tasks of an owner for a target. */
  filter({ owner, target }: Readonly<FairTaskOptions>): RunTask[] {
    return [...(this.#owners.get(owner)?.targets.get(target)?.waiting.values() ?? [])];
  }

  setPriority(): never {
    throw new InvariantError('owners take turns: their tasks have no priority');
  }

  /** The task that may start now. */
  #next(): { readonly id: string; readonly run: RunTask; readonly claim: Claim } | undefined {
    const free = this.#workers - this.#busy;
    if (free <= 0 || this.depth === 0) return undefined;
    for (const [name, owner] of this.#owners) {
      if (owner.waiting === 0 || !has(name, owner.running, free)) continue;
      const found = this.#nextOf(name, owner, free);
      if (found) return found;
    }
    return undefined;
  }

  #nextOf(name: string | undefined, owner: Owner, free: number) {
    for (const [target, both] of owner.targets) {
      const all = this.#targets.get(target) as Use;
      if (both.waiting.size === 0 || !has(target, all.running, free)) continue;
      if (!hasOf(name, owner.running, target, both.running, free)) continue;
      const [[id, run]] = both.waiting as Map<string, RunTask> & [[string, RunTask]];
      return { id, run, claim: { owner: name, target } };
    }
    return undefined;
  }

  /** The task waits no longer. */
  #take(id: string, { owner: name, target }: Claim): void {
    const owner = this.#owners.get(name) as Owner;
    owner.targets.get(target)?.waiting.delete(id);
    this.#claims.delete(id);
    for (const use of [owner, this.#targets.get(target) as Use]) use.waiting--;
  }

  #forget({ owner: name, target }: Claim): void {
    const owner = this.#owners.get(name);
    const both = owner?.targets.get(target);
    if (both?.running === 0 && both.waiting.size === 0) owner?.targets.delete(target);
    if (owner?.targets.size === 0) this.#owners.delete(name);
    const all = this.#targets.get(target);
    if (all?.running === 0 && all.waiting === 0) this.#targets.delete(target);
  }
}

/** Whether an owner or target that uses `own` of something may use another one while so many are free. */
function has(owner: string | undefined, own: number, free: number): boolean {
  return free > 0 && (owner === undefined || own < SHARE * free);
}

/** Whether an owner that uses `used` in all may use another one for a target: so it keeps a part for other targets. */
function hasOf(
  owner: string | undefined,
  used: number,
  target: string | undefined,
  usedForTarget: number,
  free: number,
): boolean {
  return owner === undefined || has(target, usedForTarget, (SHARE * free - used) / (SHARE + 1));
}
