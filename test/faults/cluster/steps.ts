// Random histories of several controllers: what clients, operators and faults do, as data that can be shortened.

import { type Random, seededRandom } from '#lib/random.ts';

export const MEMBERS = 3;

export type Step =
  /** A client gives a service a name, deletes it, or adds one to a counter. */
  | { readonly do: 'name'; readonly member: number; readonly id: string; readonly name: string }
  | { readonly do: 'delete'; readonly member: number; readonly id: string }
  | { readonly do: 'count'; readonly member: number; readonly id: string }
  /** A client asks for what is unknown at this member, or for the index of the last answer. */
  | { readonly do: 'ask'; readonly member: number }
  | { readonly do: 'ask with index'; readonly member: number }
  /**
   * The connection to the database fails, notifications or an answer get lost, the process is killed and starts again.
   */
  | { readonly do: 'part'; readonly member: number }
  | { readonly do: 'deafen'; readonly member: number }
  | { readonly do: 'lose answer'; readonly member: number }
  | { readonly do: 'heal'; readonly member: number }
  | { readonly do: 'kill'; readonly member: number }
  | { readonly do: 'renew'; readonly member: number }
  | { readonly do: 'rejoin'; readonly member: number }
  /** An operator copies the database, restores the copy, or damages a row near the end of the log. */
  | { readonly do: 'copy' }
  | { readonly do: 'restore' }
  | { readonly do: 'swap' | 'drop' | 'garble'; readonly back: number }
  | { readonly do: 'repair' }
  | { readonly do: 'wait'; readonly milliseconds: number };

export type Deed = Step['do'];

/** Relative frequencies. Faults of the database are rarer than those of connections. */
const FREQUENCIES: readonly (readonly [Deed, number])[] = [
  ['name', 30],
  ['delete', 6],
  ['count', 20],
  ['ask', 12],
  ['ask with index', 12],
  ['part', 4],
  ['deafen', 4],
  ['lose answer', 4],
  ['heal', 8],
  ['kill', 3],
  ['renew', 4],
  ['rejoin', 2],
  ['copy', 2],
  ['restore', 2],
  ['swap', 1],
  ['drop', 1],
  ['garble', 1],
  ['repair', 3],
  ['wait', 20],
];
const TOTAL = FREQUENCIES.reduce((sum, [, frequency]) => sum + frequency, 0);

export function randomSteps(seed: number, count: number): Step[] {
  const random = seededRandom(seed);
  return Array.from({ length: count }, () => randomStep(random));
}

function randomStep(random: Random): Step {
  const below = (limit: number) => Math.floor(random.next() * limit);
  const member = below(MEMBERS);
  const deed = pick(random.next() * TOTAL);
  switch (deed) {
    case 'name':
      return { do: deed, member, id: `s${below(6)}`, name: `name ${below(5)}` };
    case 'delete':
      return { do: deed, member, id: `s${below(6)}` };
    case 'count':
      return { do: deed, member, id: `counter ${below(2)}` };
    case 'swap':
    case 'drop':
    case 'garble':
      return { do: deed, back: below(3) };
    case 'wait':
      return { do: deed, milliseconds: [0, 0, 0, 1, 20, 1_500][below(6)] ?? 0 };
    case 'copy':
    case 'restore':
    case 'repair':
      return { do: deed };
    default:
      return { do: deed, member };
  }
}

function pick(value: number): Deed {
  let rest = value;
  for (const [deed, frequency] of FREQUENCIES) {
    rest -= frequency;
    if (rest < 0) return deed;
  }
  return 'wait';
}

/** The steps that remain when no single one can be left out: `fails` says whether steps show the same failure. */
export async function shrink(steps: readonly Step[], fails: (steps: readonly Step[]) => Promise<boolean>) {
  let shortest = steps;
  let size = Math.ceil(steps.length / 2);
  while (size >= 1) {
    const before = shortest.length;
    for (let start = 0; start < shortest.length; ) {
      const without = shortest.toSpliced(start, size);
      if (await fails(without)) shortest = without;
      else start += size;
    }
    // One that was left out may have been the reason for an earlier one.
    if (size > 1 || shortest.length === before) size = Math.floor(size / 2);
  }
  return shortest;
}
