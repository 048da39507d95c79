// Selects one of several terminators for a circuit: the strategies of services (reference fact: control channel,
// section 4.3). All select within the best precedence that has candidates.

import type { Random } from '#lib/random.ts';
import type { Terminator } from '../state/kinds/terminator.ts';
import type { Path } from './paths.ts';

export interface Candidate {
  readonly terminator: Terminator;
  readonly path: Path;
  /** Static cost, cost of failures and cost of the path. */
  readonly cost: number;
}

const RANK = { required: 0, default: 1, failed: 2 } as const;

/**
 * The selected candidate, or undefined if there are none. `stickiness` is the terminator id that the dialer received
 * with an earlier circuit.
 */
export function chooseTerminator(
  strategy: string,
  candidates: readonly Candidate[],
  random: Random,
  stickiness: string | undefined,
): Candidate | undefined {
  const rank = Math.min(...candidates.map(({ terminator }) => RANK[terminator.precedence]));
  const best = candidates.filter(({ terminator }) => RANK[terminator.precedence] === rank);
  const byCost = best.toSorted((a, b) => a.cost - b.cost);
  switch (strategy) {
    case 'random':
      return best[Math.floor(random.next() * best.length)];
    case 'weighted':
      return weighted(byCost, random);
    case 'sticky':
      return byCost.find(({ terminator }) => terminator.id === stickiness) ?? byCost[0];
    default:
      return byCost[0];
  }
}

/**
 * Weights each candidate by its distance from the total cost, so that cheaper ones are selected more often (reference
 * fact: control channel, section 4.3).
 */
function weighted(candidates: readonly Candidate[], random: Random): Candidate | undefined {
  if (candidates.length <= 1) return candidates[0];
  const costs = candidates.map(({ cost }) => Math.max(1, cost));
  const total = costs.reduce((sum, cost) => sum + cost, 0);
  let point = random.next() * (candidates.length - 1); // the sum of the weights 1 - cost/total
  for (const [index, cost] of costs.entries()) {
    point -= 1 - cost / total;
    if (point < 0) return candidates[index];
  }
  return candidates[0];
}
