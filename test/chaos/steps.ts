// Random histories of a network: what administrators, routers, clients and faults do, as data that can be shortened.
// Steps name entities, not ids, and do nothing if an entity does not exist, so that any part of a history is a history.

import { type Random, seededRandom } from '#lib/random.ts';

export const ROUTERS = ['a', 'b', 'c'] as const;
export type RouterName = (typeof ROUTERS)[number];
export type DeletedKind = 'identities' | 'services' | 'service-policies' | 'posture-checks';

export type Step =
  /** An administrator creates an entity or changes the one with this name. */
  | { readonly do: 'identity'; readonly name: string; readonly roles: readonly string[] }
  | { readonly do: 'service'; readonly name: string; readonly roles: readonly string[] }
  | { readonly do: 'check'; readonly name: string; readonly roles: readonly string[]; readonly domain: string }
  | {
      readonly do: 'policy';
      readonly name: string;
      readonly type: 'Dial' | 'Bind';
      readonly semantic: 'AnyOf' | 'AllOf';
      readonly identityRoles: readonly string[];
      readonly serviceRoles: readonly string[];
      readonly postureCheckRoles: readonly string[];
    }
  | { readonly do: 'delete'; readonly kind: DeletedKind; readonly name: string }
  | { readonly do: 'disable' | 'enable'; readonly name: string }
  /** A router hosts a service, which everybody may dial. */
  | { readonly do: 'host'; readonly name: string; readonly router: RouterName }
  | { readonly do: 'advance'; readonly minutes: number }
  | { readonly do: 'snapshot' | 'restore' }
  /** The control channel is cut; the router stops, is killed, or starts; the controller starts again with its data. */
  | { readonly do: 'disconnect' | 'stop' | 'kill' | 'start'; readonly router: RouterName }
  | { readonly do: 'restart' }
  /** Messages of a control channel are late, or lost until it is cut. */
  | { readonly do: 'delay' | 'drop'; readonly router: RouterName; readonly direction: 'in' | 'out' }
  | { readonly do: 'wait'; readonly milliseconds: number };

type Deed = Step['do'];

/** Relative frequencies. */
const FREQUENCIES: readonly (readonly [Deed, number])[] = [
  ['identity', 14],
  ['service', 12],
  ['check', 5],
  ['policy', 16],
  ['delete', 10],
  ['disable', 3],
  ['enable', 3],
  ['host', 5],
  ['advance', 5],
  ['snapshot', 2],
  ['restore', 2],
  ['disconnect', 5],
  ['stop', 2],
  ['kill', 3],
  ['start', 6],
  ['restart', 1],
  ['delay', 3],
  ['drop', 3],
  ['wait', 6],
];
const TOTAL = FREQUENCIES.reduce((sum, [, frequency]) => sum + frequency, 0);
const ROLES = ['red', 'green', 'blue'];
const MINUTES = [1, 29, 31, 600, 1_500];
const WAITS = [0, 20, 100, 400];

export function randomSteps(seed: number, count: number): Step[] {
  const random = seededRandom(seed);
  return Array.from({ length: count }, () => randomStep(random));
}

function randomStep(random: Random): Step {
  const below = (limit: number) => Math.floor(random.next() * limit);
  const one = <T>(values: readonly T[]) => values[below(values.length)] as T;
  const some = (values: readonly string[]) => values.filter(() => random.next() < 0.5);
  const selectors = (names: readonly string[]) => {
    const chosen = some([...ROLES.map((role) => `#${role}`), ...names.map((name) => `@${name}`)]);
    return random.next() < 0.2 ? ['#all'] : chosen;
  };
  const identity = () => `i${below(5)}`;
  const service = () => `s${below(4)}`;
  const deed = pick(random.next() * TOTAL);
  switch (deed) {
    case 'identity':
      return { do: deed, name: identity(), roles: some(ROLES) };
    case 'service':
      return { do: deed, name: service(), roles: some(ROLES) };
    case 'check':
      return { do: deed, name: `c${below(2)}`, roles: some(ROLES), domain: one(['corp', 'lab']) };
    case 'policy':
      return {
        do: deed,
        name: `p${below(5)}`,
        type: one(['Dial', 'Bind']),
        semantic: one(['AnyOf', 'AllOf']),
        identityRoles: selectors(['i0', 'i1']),
        serviceRoles: selectors(['s0', 's1']),
        postureCheckRoles: random.next() < 0.3 ? [`#${one(ROLES)}`] : [],
      };
    case 'delete': {
      const kind = one<DeletedKind>(['identities', 'services', 'service-policies', 'posture-checks']);
      const names = {
        identities: identity(),
        services: service(),
        'service-policies': `p${below(5)}`,
        'posture-checks': `c${below(2)}`,
      };
      return { do: deed, kind, name: names[kind] };
    }
    case 'disable':
    case 'enable':
      return { do: deed, name: identity() };
    case 'host':
      return { do: deed, name: `h${below(3)}`, router: one(ROUTERS) };
    case 'advance':
      return { do: deed, minutes: one(MINUTES) };
    case 'wait':
      return { do: deed, milliseconds: one(WAITS) };
    case 'delay':
    case 'drop':
      return { do: deed, router: one(ROUTERS), direction: one(['in', 'out']) };
    case 'snapshot':
    case 'restore':
    case 'restart':
      return { do: deed };
    default:
      return { do: deed, router: one(ROUTERS) };
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

/**
 * The steps that remain when none can be left out: `fails` says whether steps show a failure. `isLate` ends the search
 * early; the result is then a failing history that may still have superfluous steps.
 */
export async function shrink(
  steps: readonly Step[],
  fails: (steps: readonly Step[]) => Promise<boolean>,
  isLate: () => boolean = () => false,
): Promise<readonly Step[]> {
  let shortest = steps;
  for (let size = Math.ceil(steps.length / 2); size >= 1; size = Math.floor(size / 2)) {
    for (let start = 0; start < shortest.length && !isLate(); ) {
      const without = shortest.toSpliced(start, size);
      if (await fails(without)) shortest = without;
      else start += size;
    }
  }
  return shortest;
}
