// Which of the waiting tasks starts next, and which tasks may wait at all. Owners take turns, and no owner gets the
// last free workers or places: whoever fills a queue with tasks that hang leaves room for others, however many do so.
// The targets of an owner's tasks take turns within its turn, and have the same shares: neither one owner with many
// targets nor one target that hangs for many owners uses up the queue, nor one target of an owner the owner's share.
//
//   an owner may use another worker (place) while it uses less than SHARE times the free ones: alone 3/4 of all, two
//   owners 3/7 each, three 3/10 each (dynamic thresholds, Choudhury and Hahne, IEEE/ACM Transactions on Networking 6/2)

const SHARE = 3;

/** Sharers of the queue. Undefined stands for the program itself: no share limits it. */
export interface Claim {
  readonly owner?: string | undefined;
  readonly target?: string | undefined;
}

interface Use {
  running: number;
  waiting: number;
}

interface Owner<T> extends Use {
  /** Those with tasks, by target; whose turn is next comes first. */
  readonly targets: Map<string | undefined, OwnTarget<T>>;
}

/** The tasks of one owner for one target. */
interface OwnTarget<T> {
  running: number;
  /** In order. */
  readonly waiting: Set<T>;
}

const NO_USE: Readonly<Use> = { running: 0, waiting: 0 };

export class FairTasks<T> {
  /** Limits on waiting and on running tasks. */
  readonly #length: number;
  readonly #workers: number;
  /** Those with tasks; whose turn is next comes first. */
  readonly #owners = new Map<string | undefined, Owner<T>>();
  /** Those with tasks. */
  readonly #targets = new Map<string | undefined, Use>();
  #depth = 0;
  #busy = 0;

  constructor({ length, workers }: { readonly length: number; readonly workers: number }) {
    this.#length = length;
    this.#workers = workers;
  }

  /** Number of waiting tasks. */
  get depth(): number {
    return this.#depth;
  }

  /** Number of running tasks. */
  get busy(): number {
    return this.#busy;
  }

  /** Whether `add` would return false. A free worker starts a task at once, so that a length of 0 works. */
  isFull({ owner, target }: Claim): boolean {
    const own = this.#owners.get(owner);
    const all = this.#targets.get(target) ?? NO_USE;
    const both = own?.targets.get(target);
    const { running, waiting } = own ?? NO_USE;
    const free = this.#workers - this.#busy;
    const places = this.#length - this.#depth;
    const mayRun = has(owner, running, free) && has(target, all.running, free);
    if (waiting === 0 && this.#depth < free && mayRun && hasOf(owner, running, target, both?.running ?? 0, free))
      return false;
    const mayWait = has(owner, waiting, places) && has(target, all.waiting, places);
    return !mayWait || !hasOf(owner, waiting, target, both?.waiting.size ?? 0, places);
  }

  /** Returns false if the task may not even wait. */
  add(task: T, claim: Claim): boolean {
    if (this.isFull(claim)) return false;
    const { owner: name, target } = claim;
    const owner = this.#owners.get(name) ?? { ...NO_USE, targets: new Map<string | undefined, OwnTarget<T>>() };
    const all = this.#targets.get(target) ?? { ...NO_USE };
    const both = owner.targets.get(target) ?? { running: 0, waiting: new Set() };
    this.#owners.set(name, owner);
    this.#targets.set(target, all);
    owner.targets.set(target, both);
    both.waiting.add(task);
    owner.waiting++;
    all.waiting++;
    this.#depth++;
    return true;
  }

  /** Removes a waiting task; returns false if it does not wait. */
  remove(task: T, claim: Claim): boolean {
    const owner = this.#owners.get(claim.owner);
    if (!owner?.targets.get(claim.target)?.waiting.has(task)) return false;
    this.#take(owner, claim.target, task);
    this.#forget(claim);
    return true;
  }

  /** Takes a worker for the next task; undefined if none may start. Call `done` with its claim at its end. */
  next(): T | undefined {
    const free = this.#workers - this.#busy;
    if (free <= 0 || this.#depth === 0) return undefined;
    for (const [name, owner] of this.#owners) {
      if (owner.waiting === 0 || !has(name, owner.running, free)) continue;
      const found = this.#nextOf(name, owner, free);
      if (!found) continue;
      this.#busy++;
      // The others are next.
      this.#owners.delete(name);
      this.#owners.set(name, owner);
      return found.task;
    }
    return undefined;
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

  #nextOf(name: string | undefined, owner: Owner<T>, free: number): { readonly task: T } | undefined {
    for (const [target, both] of owner.targets) {
      const all = this.#targets.get(target) as Use;
      if (both.waiting.size === 0 || !has(target, all.running, free)) continue;
      if (!hasOf(name, owner.running, target, both.running, free)) continue;
      const [task] = both.waiting as Set<T> & [T];
      this.#take(owner, target, task);
      for (const use of [owner, all, both]) use.running++;
      owner.targets.delete(target);
      owner.targets.set(target, both);
      return { task };
    }
    return undefined;
  }

  /** The task waits no longer. */
  #take(owner: Owner<T>, target: string | undefined, task: T): void {
    owner.targets.get(target)?.waiting.delete(task);
    for (const use of [owner, this.#targets.get(target) as Use]) use.waiting--;
    this.#depth--;
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
