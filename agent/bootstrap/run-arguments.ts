// The arguments of the reference's `ziti router run` and `ziti router enroll`, as arguments of this program.

interface Translation {
  /** Ours, with the value of the option if it has one. */
  readonly to: (value: string) => readonly string[];
  readonly hasValue: boolean;
}

const FORMATS: Readonly<Record<string, string>> = { json: 'json', pfxlog: 'text', pretty: 'text', text: 'text' };
const nothing = { to: () => [], hasValue: false };
const nothingWithValue = { to: () => [], hasValue: true };
const flag = (...ours: readonly string[]): Translation => ({ to: () => ours, hasValue: false });

/** Options without an effect here: the agent always listens, and lines of the log are written at once. */
const RUN: Readonly<Record<string, Translation>> = {
  '-e': flag('--extend'),
  '--extend': flag('--extend'),
  '-v': flag('--log-level', 'debug'),
  '--verbose': flag('--log-level', 'debug'),
  '--log-formatter': { to: (value) => ['--log-format', FORMATS[value] ?? value], hasValue: true },
  '-a': nothing,
  '--cliagent': nothing,
  '--cli-agent': nothing,
  '--cli-agent-addr': nothingWithValue,
  '--cli-agent-alias': nothingWithValue,
  '--debug-ops': nothing,
  '--log-queue-size': nothingWithValue,
  '--log-block-threshold': nothingWithValue,
  '--log-summary-interval': nothingWithValue,
};

const ENROLL: Readonly<Record<string, Translation>> = {
  '-j': { to: (value) => ['--jwt', value], hasValue: true },
  '--jwt': { to: (value) => ['--jwt', value], hasValue: true },
  '-a': { to: (value) => ['--key-alg', value], hasValue: true },
  '--keyAlg': { to: (value) => ['--key-alg', value], hasValue: true },
  '-v': nothing,
  '--verbose': nothing,
  '--log-formatter': nothingWithValue,
  '--cliagent': nothing,
  '--cli-agent': nothing,
  '--cli-agent-addr': nothingWithValue,
  '--cli-agent-alias': nothingWithValue,
  '--debug-ops': nothing,
};

/**
 * The arguments of a command line, which may have options of the reference. Options of this program remain as they are.
 */
export function ownArguments([command = '', ...rest]: readonly string[]): string[] {
  if (command === 'run') return [command, ...runArguments(rest)];
  if (command === 'enroll') return [command, ...enrollArguments(rest)];
  return command === '' ? [] : [command, ...rest];
}

/** Options of this program remain as they are. */
function runArguments(given: readonly string[]): string[] {
  return translate(given, RUN);
}

/** Options of this program remain as they are. */
function enrollArguments(given: readonly string[]): string[] {
  return translate(given, ENROLL);
}

function translate(given: readonly string[], table: Readonly<Record<string, Translation>>): string[] {
  const translated: string[] = [];
  for (let index = 0; index < given.length; index++) {
    const argument = given[index] ?? '';
    const [name = '', inline] = argument.startsWith('-') ? argument.split(/=(.*)/s) : [argument];
    const translation = Object.hasOwn(table, name) ? table[name] : undefined;
    if (!translation) translated.push(argument);
    else if (!translation.hasValue) {
      if (inline !== 'false') translated.push(...translation.to(''));
    } else {
      translated.push(...translation.to(inline ?? given[index + 1] ?? ''));
      if (inline === undefined) index++;
    }
  }
  return translated;
}
