// Which of the waiting tasks starts next, and which tasks may wait at all. Owners take turns, and no owner gets the
// last free workers or places: whoever fills a queue with tasks that hang leaves room for others, however many do so.
//
//   an owner may use another worker (place) while it uses less than SHARE times the free ones: alone 3/4 of all, two
//   owners 3/7 each, three 3/10 each (dynamic thresholds, Choudhury and Hahne, IEEE/ACM Transactions on Networking 6/2)

const SHARE = 3;

interface Owner<T> {
  running: number;
  /** In order. */
  readonly waiting: Set<T>;
}

export class FairTasks<T> {
  /** Limits on waiting and on running tasks. */
  readonly #length: number;
  readonly #workers: number;
  /** Those with tasks; whose turn is next comes first. */
  readonly #owners = new Map<string | undefined, Owner<T>>();
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
  isFull(owner: string | undefined): boolean {
    const { running = 0, waiting } = this.#owners.get(owner) ?? {};
    const own = waiting?.size ?? 0;
    const free = this.#workers - this.#busy;
    if (own === 0 && this.#depth < free && has(owner, running, free)) return false;
    return !has(owner, own, this.#length - this.#depth);
  }

  /**
   * Returns false if the task may not even wait. Tasks without an owner belong to the program: no share limits them.
   */
  add(task: T, owner: string | undefined): boolean {
    if (this.isFull(owner)) return false;
    const known = this.#owners.get(owner);
    if (known) known.waiting.add(task);
    else this.#owners.set(owner, { running: 0, waiting: new Set([task]) });
    this.#depth++;
    return true;
  }

  /** Removes a waiting task; returns false if it does not wait. */
  remove(task: T, owner: string | undefined): boolean {
    const found = this.#owners.get(owner);
    if (!found?.waiting.delete(task)) return false;
    this.#depth--;
    this.#forget(owner, found);
    return true;
  }

  /** Takes a worker for the next task; undefined if none may start. Call `done` with its owner at its end. */
  next(): T | undefined {
    const free = this.#workers - this.#busy;
    if (free <= 0 || this.#depth === 0) return undefined;
    for (const [name, owner] of this.#owners) {
      const [task] = owner.waiting;
      if (task === undefined || !has(name, owner.running, free)) continue;
      owner.waiting.delete(task);
      owner.running++;
      this.#depth--;
      this.#busy++;
      // The others are next.
      this.#owners.delete(name);
      this.#owners.set(name, owner);
      return task;
    }
    return undefined;
  }

  done(owner: string | undefined): void {
    const found = this.#owners.get(owner);
    if (!found) return;
    found.running--;
    this.#busy--;
    this.#forget(owner, found);
  }

  #forget(name: string | undefined, { running, waiting }: Owner<T>): void {
    if (running === 0 && waiting.size === 0) this.#owners.delete(name);
  }
}

/** Whether an owner that uses `own` of something may use another one while so many are free. */
function has(owner: string | undefined, own: number, free: number): boolean {
  return free > 0 && (owner === undefined || own < SHARE * free);
}
