// Inspections: named values of controllers and routers whose ids match an expression (reference fact: HTTP entities,
// section 19).

import { within } from '#lib/bounded.ts';
import { describeError } from '#lib/errors.ts';
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
/** Limit in characters; longer expressions do not describe ids and could be expensive. */
const MAX_EXPRESSION_LENGTH = 512;
/** Time limit in milliseconds for matching all ids: a good expression needs one for a thousand. */
const MAX_LOOK_MS = 50;

/** Reports an unclosed bracket, the most frequent mistake, in the words of the reference. */
function whyOf(error: unknown, expression: string): string {
  const why = describeError(error);
  return why.endsWith('Unterminated group') ? `missing closing ): \`${expression}\`` : why;
}

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
  let matching: ReadonlySet<string>;
  try {
    if (appRegex.length > MAX_EXPRESSION_LENGTH) throw new Error(`longer than ${MAX_EXPRESSION_LENGTH} characters`);
    const pattern = new RegExp(appRegex);
    const isMatch = ({ id, name }: { id: string; name: string }) =>
      pattern.test(id) || (name !== '' && pattern.test(name));
    matching = new Set(within(MAX_LOOK_MS, () => apps.filter(isMatch).map(({ id }) => id)));
  } catch (error) {
    return {
      success: false,
      errors: [`${controllerId}: error parsing regexp: ${whyOf(error, appRegex)}`],
      values: null,
    };
  }
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
