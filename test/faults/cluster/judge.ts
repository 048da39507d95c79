// Judges what clients and members saw of a history: one order for all, the same data at the same place of it, and no
// acknowledged write is lost, unless the database itself has lost it.

import type { Change } from '../../../controller-sim/state/change.ts';
import { hashOf, hashOfServices, type Life, type Seen } from './history.ts';
import type { Committed } from './memory-log.ts';

type Contents = ReadonlyMap<string, { readonly id: string }>;

/** The reasons why the history is wrong; none if it is right. */
export function judge(seen: Seen): string[] {
  const tree = new Tree(seen.committed);
  const lives = seen.lives.flatMap((life) => judgeLife(life, tree));
  return [...seen.violations, ...lives, ...judgeWrites(seen, tree), ...judgeEnd(seen, tree)];
}

/** Everything that was ever committed, with the data after it. */
class Tree {
  readonly #committed: ReadonlyMap<string, Committed>;
  /** By the chain before them. */
  readonly #followers: ReadonlyMap<string, readonly { readonly chain: string; readonly changes: string }[]>;
  readonly #contents = new Map<string, Contents>([['', new Map()]]);

  constructor(committed: ReadonlyMap<string, Committed>) {
    this.#committed = committed;
    const all = [...committed].map(([chain, { parent, entry }]) => ({
      parent,
      chain,
      changes: hashOf(changesOf(entry.body)),
    }));
    this.#followers = Map.groupBy(all, ({ parent }) => parent);
  }

  /** The entry that follows `chain` and has changes with this hash. */
  next(chain: string, changes: string): string | undefined {
    return this.#followers.get(chain)?.find((follower) => follower.changes === changes)?.chain;
  }

  /** From the first entry on. */
  pathTo(chain: string): string[] {
    const path: string[] = [];
    for (let own = chain; own !== ''; own = this.#committed.get(own)?.parent ?? '') path.push(own);
    return path.reverse();
  }

  contents(chain: string): string {
    return hashOfServices(this.#at(chain).values());
  }

  body(chain: string): string {
    return this.#committed.get(chain)?.entry.body ?? '';
  }

  #at(chain: string): Contents {
    const unknown: string[] = [];
    let at = chain;
    for (; !this.#contents.has(at); at = this.#committed.get(at)?.parent ?? '') unknown.push(at);
    let contents = this.#contents.get(at) ?? new Map();
    for (const own of unknown.reverse()) {
      const next = new Map(contents);
      for (const { id, after } of changesOf(this.body(own)))
        if (after) next.set(id, after);
        else next.delete(id);
      contents = next;
      this.#contents.set(own, contents);
    }
    return contents;
  }
}

function changesOf(body: string): Change[] {
  return (JSON.parse(body) as { changes: Change[] }).changes;
}

/**
 * A member goes from each entry to the next one, and elsewhere only if it is told to, or if that contains all it has.
 */
function judgeLife({ member, chain, contents, published }: Life, tree: Tree): string[] {
  let at = chain;
  if (tree.contents(at) !== contents) return [`member ${member} started with other data than the database has`];
  for (const [count, set] of published.entries()) {
    const name = `member ${member}, set ${count + 1}`;
    const next = set.isReload ? set.chain : tree.next(at, set.changes);
    if (next === undefined) return [`${name}: nobody has committed it after the previous one`];
    if (set.isReload && !set.isWanted && at !== '' && !tree.pathTo(next).includes(at))
      return [`${name}: it took another history without being told to`];
    if (tree.contents(next) !== set.contents) return [`${name}: its data is not that of the entry`];
    at = next;
  }
  return [];
}

function judgeWrites({ writes, head, dropped, committed }: Seen, tree: Tree): string[] {
  const marksIn = (chains: Iterable<string>) => {
    const marks = [...chains].flatMap((chain) => tree.body(chain).match(/"mark":"mark \d+"/g) ?? []);
    return marks.map((mark) => mark.slice('"mark":"'.length, -1));
  };
  const ofAfter = (chains: Iterable<string>) =>
    new Set(
      [...chains].flatMap((chain) =>
        changesOf(tree.body(chain)).flatMap(({ after }) => (after as { tags?: { mark?: string } })?.tags?.mark ?? []),
      ),
    );
  const present = ofAfter(tree.pathTo(head));
  const lost = new Set(marksIn(dropped));
  const ever = ofAfter(committed.keys());
  return writes.flatMap(({ mark, outcome }) => {
    if (outcome === 'rejected' && ever.has(mark)) return [`${mark}: it was rejected, and yet committed`];
    if (outcome !== 'acknowledged') return [];
    if (!ever.has(mark)) return [`${mark}: it was acknowledged, and never committed`];
    return present.has(mark) || lost.has(mark) ? [] : [`${mark}: it was acknowledged, and is lost`];
  });
}

function judgeEnd({ head, contents, problems }: Seen, tree: Tree): string[] {
  return contents.flatMap((own, member) => [
    ...(own === tree.contents(head) ? [] : [`member ${member} ends with other data than the database has`]),
    ...(problems[member] === undefined ? [] : [`member ${member} ends with a problem: ${problems[member]}`]),
  ]);
}
