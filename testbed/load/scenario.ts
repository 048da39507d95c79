// A load scenario: groups of virtual routers and clients, and the steps of their members. The schema has every field.

import { ProjectError } from '#lib/errors.ts';
import { atOnce } from '#lib/slices.ts';
import { parseDuration } from '#lib/time/duration.ts';
import schema from '#schemas/sim/load.schema.json' with { type: 'json' };
import { schemaChecker } from '../../controller-sim/lab/seed/check.ts';
import { readSeedObject, readSeedText } from '../../controller-sim/lab/seed/document.ts';
import { Mistakes } from '../../controller-sim/lab/seed/mistake.ts';

export type RouterStep =
  | 'connect'
  | 'link'
  | 'disconnect'
  | { readonly wait: string }
  | { readonly bind: string }
  | { readonly dial: string };

export type ClientStep =
  | 'login'
  | 'services'
  | 'logout'
  | { readonly wait: string }
  | { readonly session: string }
  | { readonly bind: string }
  | { readonly dial: string };

interface Group<Step> {
  /** Members are named `NAME-1`, `NAME-2`, … */
  readonly name: string;
  readonly count: number;
  /** Members that start in a second; default: as many as `atOnce` permits. */
  readonly rate?: number;
  /** Members that run a step other than `wait` at the same time; default 100. */
  readonly atOnce?: number;
  /** Default 1. */
  readonly repeat?: number;
  readonly steps: readonly Step[];
}

export interface RouterGroup extends Group<RouterStep> {
  /** The version that the routers report, such as v1.6.5. */
  readonly version?: string;
  /** `foreign`: of another authority; the controller must reject them. */
  readonly certificate?: 'valid' | 'foreign';
  /** Duration before a route is confirmed. */
  readonly answerDelay?: string;
  /** Links that each router reports in its step `link`, to the next routers of the group; default 1. */
  readonly links?: number;
}

export interface ClientGroup extends Group<ClientStep> {
  /** How many identities the clients share; default: each has its own. */
  readonly identities?: number;
}

export interface LoadScenario {
  /** The seed of random waits; default 1. */
  readonly seed?: number;
  readonly routers?: readonly RouterGroup[];
  readonly clients?: readonly ClientGroup[];
}

const check = schemaChecker(schema);

/** Reads a scenario: text (YAML or JSON) or an object. @throws SeedError with line and remedy of each mistake */
export function readScenario(given: LoadScenario | string, file = 'the scenario'): LoadScenario {
  const source = typeof given === 'string' ? atOnce(readSeedText(given, file)) : readSeedObject(given);
  const mistakes = new Mistakes();
  for (const { path, describe } of check(source.value))
    mistakes.add(() => ({ ...source.at(path), message: describe() }));
  if (mistakes.count > 0) throw mistakes.error(file);
  const scenario = source.value as LoadScenario;
  for (const [path, message] of problems(scenario)) mistakes.add(() => ({ ...source.at(path), message }));
  if (mistakes.count > 0) throw mistakes.error(file);
  return scenario;
}

type Problem = readonly [path: (string | number)[], message: string];

/** Rules that the schema cannot express. */
function* problems({ routers = [], clients = [] }: LoadScenario): Generator<Problem> {
  if (routers.length + clients.length === 0) yield [[], 'the scenario has no routers and no clients; add a group'];
  const names = new Set<string>();
  for (const [section, groups] of [
    ['routers', routers],
    ['clients', clients],
  ] as const)
    for (const [index, group] of groups.entries()) {
      const place = [section, index];
      if (names.has(group.name)) yield [[...place, 'name'], `another group has the name ${group.name}`];
      names.add(group.name);
      for (const [at, step] of group.steps.entries())
        if (typeof step === 'object' && 'wait' in step) yield* duration([...place, 'steps', at, 'wait'], step.wait);
    }
  for (const [index, { answerDelay, links = 1, count }] of routers.entries()) {
    if (answerDelay !== undefined)
      yield* duration(['routers', index, 'answerDelay'], answerDelay, (text) => [parseDuration(text)]);
    if (links >= count && links > 1)
      yield [['routers', index, 'links'], `each of ${count} routers can link ${count - 1} others`];
  }
}

/** Milliseconds: of a duration, or of the two of a range such as `1s..5s`. @throws DurationError */
export function waitBounds(text: string): number[] {
  return text.split('..').map(parseDuration);
}

function* duration(path: (string | number)[], text: string, read = waitBounds): Generator<Problem> {
  try {
    const [least = 0, most = least, ...others] = read(text);
    if (others.length > 0) yield [path, 'the range has more than two durations'];
    if (least < 0) yield [path, 'the duration is negative'];
    if (most < least) yield [path, 'the second duration of the range is shorter than the first'];
  } catch (error) {
    if (!(error instanceof ProjectError)) throw error;
    yield [path, error.message];
  }
}
