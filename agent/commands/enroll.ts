// `enroll FILE --jwt FILE`: enrolls the router with a one-time token.

import { Command, InvalidArgumentError, Option } from 'commander';
import { examples } from '#lib/commands/name.ts';
import { print, printError } from '#lib/commands/print.ts';
import { describeError, errorCode } from '#lib/errors.ts';
import { readProblem } from '#lib/files/read-problem.ts';
import { readText, readTextFile } from '#lib/files/text-file.ts';
import { createLog } from '#lib/log/log.ts';
import { type HeldSignals, holdStopSignals } from '#lib/process/stop-signal.ts';
import { SystemClock } from '#lib/time/clock.ts';
import { type FindingCode, findingText } from '../config/finding.ts';
import type { KeyAlgorithm } from '../enroll/enroll.ts';
import { Exit } from './exit.ts';
import { textReport } from './report.ts';

/** Findings about names that the new certificates would lack, checked before the one-time token is used. */
const ABOUT_NAMES: ReadonlySet<FindingCode> = new Set(['CFG-ADVERTISE', 'CFG-SECTION']);
const KEY_ALGORITHMS: readonly KeyAlgorithm[] = ['RSA', 'EC'];

/** The answer of a stop signal while the token is used. */
const WAITS =
  'the token is being used, so the files of the enrollment are written first; repeat the signal to lose both';

interface EnrollOptions {
  readonly jwt: string;
  readonly keyAlg?: KeyAlgorithm;
}

export function enrollCommand(): Command {
  return new Command('enroll')
    .description('enroll the router with a one-time token')
    .argument('<file>', 'configuration file')
    .requiredOption('--jwt <file>', 'token file; - for standard input')
    .addOption(
      new Option('--key-alg <algorithm>', 'algorithm of a new private key (default: that of an existing key, else EC)')
        .choices(KEY_ALGORITHMS)
        .argParser(keyAlgorithm), // replaces the check of choices(), which rejects lower case
    )
    .addHelpText('after', examples('router', 'enroll router.yml --jwt router.jwt'))
    .action(async (file: string, options: EnrollOptions) => {
      process.exitCode = await enroll(file, options);
    });
}

async function enroll(file: string, options: EnrollOptions): Promise<number> {
  const isInput = options.jwt === '-';
  return enrollWith(file, {
    ...(options.keyAlg && { keyAlgorithm: options.keyAlg }),
    place: isInput ? 'standard input' : options.jwt,
    source: isInput ? 'token on standard input' : `token file ${options.jwt}`,
    read: async () => (isInput ? readText(process.stdin) : readTextFile(options.jwt)),
  });
}

export interface TokenInput {
  /** Default: the type of an existing key, else EC, which is created at once. */
  readonly keyAlgorithm?: KeyAlgorithm;
  /** The place of the token in messages, for example its file. */
  readonly place: string;
  /** The same as a noun: "token file router.jwt". */
  readonly source: string;
  /** Rejects with the error of the system. */
  read(): Promise<string>;
}

/** Prints the result or the reason. @returns The exit code. */
export async function enrollWith(file: string, { keyAlgorithm, place, source, read }: TokenInput): Promise<number> {
  const { loadRouterConfig } = await import('../config/load.ts');
  const loaded = loadRouterConfig(file, { beforeEnrollment: true });
  const { config } = loaded;
  if (!config) {
    printError(textReport([loaded]).trimEnd());
    return Exit.Failed;
  }
  const aboutNames = loaded.findings.filter(({ code }) => ABOUT_NAMES.has(code));
  if (aboutNames.length > 0) printError(aboutNames.map((each) => findingText(file, each)).join('\n'));
  let jwt: string;
  try {
    jwt = await read();
  } catch (error) {
    printError(`the token file cannot be read: ${readProblem(place, error)}`);
    return Exit.Failed;
  }
  if (jwt.trim() === '') {
    printError(`the ${source} is empty; create a new token at the controller`);
    return Exit.Failed;
  }
  let held: HeldSignals | undefined;
  try {
    const { enrollRouter, suitableAlgorithm } = await import('../enroll/enroll.ts');
    const log = createLog({ level: 'warn', format: 'text' });
    const { routerId, files } = await enrollRouter({
      config,
      jwt,
      keyAlgorithm: keyAlgorithm ?? suitableAlgorithm(config),
      clock: new SystemClock(),
      log,
      onUse: () => {
        held = holdStopSignals((signal) => printError(`${signal}: ${WAITS}`));
      },
    });
    print(`router ${routerId} is enrolled; written: ${files.join(', ')}`);
    // The controller decides about the names in the certificates.
    const obstacles = loadRouterConfig(file).findings.filter(({ severity }) => severity === 'error');
    if (obstacles.length > 0) printError(obstacles.map((each) => findingText(file, each)).join('\n'));
    return Exit.Done;
  } catch (error) {
    const at = errorCode(error) === 'TOKEN_MALFORMED' ? `${place}: ` : '';
    printError(`not enrolled: ${at}${error instanceof Error ? error.message : describeError(error)}`);
    return Exit.Failed;
  } finally {
    await held?.release();
  }
}

function keyAlgorithm(value: string): KeyAlgorithm {
  const found = KEY_ALGORITHMS.find((each) => each === value.toUpperCase());
  if (found) return found;
  throw new InvalidArgumentError(`Allowed choices are ${KEY_ALGORITHMS.join(', ')}.`);
}
