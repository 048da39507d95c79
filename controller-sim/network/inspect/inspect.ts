// Inspections: named values of controllers and routers whose ids match an expression (reference fact: HTTP entities,
// section 19).

import { describeError } from '#lib/errors.ts';
import { LinearPattern, loadPatterns } from '#lib/text/linear-pattern.ts';
import type { InspectedValue, InspectResponse } from '#schemas/api/gen/answers.ts';
import { type Inspected, nullIfEmpty, routerName, valuesOfController } from './controller-inspections.ts';
import { inspectOver } from './inspect-over.ts';

/** The answer of one router or controller. */
export interface PeerAnswer {
  readonly success: boolean;
  readonly errors: readonly string[];
  readonly values: readonly { readonly name: string; readonly value: unknown }[];
}

/** Asks the other controllers of a cluster. */
export interface Peers {
  /** The values that the member itself answers, not those of its routers. Rejects if it cannot be reached. */
  inspect(memberId: string, names: readonly string[]): Promise<PeerAnswer>;
}

const TIMEOUT = 10_000;
/** Instructions of an expression: it is matched with the ids and names of all routers. */
const MAX_INSTRUCTIONS = 200;

/**
 * `appRegex` selects controllers by their ids, and the routers of this one by ids and names, as in the reference:
 * routers that are connected only to other controllers are not asked. Repeated names are answered once: a value may be
 * large.
 */
export async function inspect(
  inspected: Inspected & { readonly peers: Peers },
  appRegex: string,
  requestedNames: readonly string[],
): Promise<InspectResponse> {
  const names = [...new Set(requestedNames)];
  const { network, cluster, state, peers } = inspected;
  const controllerId = cluster.id;
  const others = cluster.connectedOthers;
  const apps = [
    { id: controllerId, name: '' },
    ...others.map((id) => ({ id, name: '' })),
    ...network.routers.keys().map((id) => ({ id, name: routerName(state, id) })),
  ];
  await loadPatterns();
  let pattern: LinearPattern;
  try {
    pattern = new LinearPattern(appRegex, MAX_INSTRUCTIONS);
  } catch (error) {
    return { success: false, errors: [`${controllerId}: ${describeError(error)}`], values: null };
  }
  const isMatch = ({ id, name }: { id: string; name: string }) =>
    pattern.matches(id) || (name !== '' && pattern.matches(name));
  const matching = new Set(apps.filter(isMatch).map(({ id }) => id));
  const asked = [
    ...[...network.routers.values()].map(({ id, channel }) => ({
      id,
      answer: () => inspectOver(channel, names, { timeout: TIMEOUT }),
    })),
    ...others.map((id) => ({ id, answer: () => peers.inspect(id, names) })),
  ].filter(({ id }) => matching.has(id));
  const own = matching.has(controllerId) ? valuesOfController(inspected, names) : [];
  const values: InspectedValue[] = own.map((value) => ({ appId: controllerId, ...value }));
  const errors: string[] = [];
  const answers = await Promise.allSettled(asked.map(({ answer }) => answer()));
  for (const [index, { id }] of asked.entries()) {
    const answer = answers[index];
    if (answer?.status !== 'fulfilled') errors.push(`${id}: ${describeError(answer?.reason)}`);
    else if (!answer.value.success)
      errors.push(`${id}: ${answer.value.errors.join('; ') || 'it rejected the inspection'}`);
    else values.push(...answer.value.values.map((value) => ({ appId: id, ...value })));
  }
  return { success: errors.length === 0, errors: nullIfEmpty(errors), values: nullIfEmpty(values) };
}
