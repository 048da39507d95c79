// Inspections: named values of controllers and routers whose ids match an expression (reference fact: HTTP entities,
// section 19).

import { within } from '#lib/bounded.ts';
import { describeError } from '#lib/errors.ts';
import type { ConnectedRouter } from './connected-router.ts';
import { type Inspected, inspectController, nullIfEmpty, routerName } from './controller-inspections.ts';
import { inspectRouter } from './inspect-router.ts';

export interface InspectAnswer {
  readonly success: boolean;
  readonly errors: readonly string[] | null;
  readonly values: readonly InspectedValue[] | null;
}

interface InspectedValue {
  readonly appId: string;
  readonly name: string;
  readonly value: unknown;
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
 * `appRegex` selects controllers by their ids, and routers by ids and names, as in the reference. Repeated names are
 * answered once: a value may be large.
 */
export async function inspect(
  inspected: Inspected,
  appRegex: string,
  requestedNames: readonly string[],
): Promise<InspectAnswer> {
  const names = [...new Set(requestedNames)];
  const { network, cluster, state } = inspected;
  const controllerId = cluster.id;
  const apps = [
    { id: controllerId, name: '' },
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
  const errors: string[] = [];
  const values = matching.has(controllerId) ? valuesOfController(inspected, names) : [];
  const routers = [...network.routers.values()].filter(({ id }) => matching.has(id));
  const answers = await Promise.allSettled(routers.map((router) => valuesOf(router, names)));
  for (const [index, answer] of answers.entries()) {
    if (answer.status === 'fulfilled') values.push(...answer.value);
    else errors.push(`${routers[index]?.id}: ${describeError(answer.reason)}`);
  }
  return { success: errors.length === 0, errors: nullIfEmpty(errors), values: nullIfEmpty(values) };
}

function valuesOfController(inspected: Inspected, names: readonly string[]): InspectedValue[] {
  return names.flatMap((name) => {
    const value = inspectController(inspected, name);
    return value === undefined ? [] : [{ appId: inspected.cluster.id, name, value }];
  });
}

async function valuesOf(router: ConnectedRouter, names: readonly string[]): Promise<InspectedValue[]> {
  const { success, errors, values } = await inspectRouter(router, names, { timeout: TIMEOUT });
  if (!success) throw new Error(errors.join('; ') || 'the router rejected the inspection');
  return values.map((value) => ({ appId: router.id, ...value }));
}
