// `/entrypoint.bash run FILE` of the container image: creates the configuration and enrolls the router if the variables
// of the environment ask for it, then runs it in the same process. No shell takes part.

import { accessSync, constants, mkdirSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { print, printError } from '#lib/commands/print.ts';
import { describeError, errorCode } from '#lib/errors.ts';
import { writeProblem } from '#lib/files/writable.ts';
import { SystemClock } from '#lib/time/clock.ts';
import { bootstrap } from '../bootstrap/bootstrap.ts';
import { BootstrapError, readSettings } from '../bootstrap/settings.ts';
import { socketFolder } from '../operator/agent-client.ts';
import { enrollWith } from './enroll.ts';
import { Exit } from './exit.ts';
import { runRouter } from './ziti.ts';

/** The working folder of the image may be another one than that of the state, which a volume contains. */
const DEFAULT_ARGUMENTS = ['run', 'config.yml'];
const EXTEND = /^(-e|--extend)\b/;

/** @param given Arguments of the entry point. Resolves when the router has stopped. */
export async function runEntrypoint(given: readonly string[]): Promise<void> {
  try {
    await runRouter(await prepare(given));
  } catch (error) {
    if (!(error instanceof BootstrapError)) throw error;
    printError(error.message);
    process.exitCode = Exit.Failed;
  }
}

/** Resolves with the arguments of the router's command line. @throws BootstrapError */
async function prepare(given: readonly string[]): Promise<readonly string[]> {
  const [command = '', file] = given;
  const args = given.length === 0 || (command === 'run' && !file) ? DEFAULT_ARGUMENTS : given;
  const settings = readSettings(process.env, process.cwd());
  enter(settings.home);
  if (!settings.isEnabled || !args[0]?.includes('run')) return args;
  const isNew = await bootstrap({
    file: args[1] ?? '',
    settings,
    environment: process.env,
    hostName: hostname(),
    now: new Date(new SystemClock().now()),
    enroll,
    report: print,
    debug: (line) => settings.isDebugging && print(line),
  });
  // The certificates of an enrollment need no renewal.
  return settings.renewsCertificates && !isNew && !args.some((each) => EXTEND.test(each))
    ? [...args, '--extend']
    : args;
}

async function enroll(file: string, token: string): Promise<boolean> {
  const variable = 'ZITI_ENROLL_TOKEN';
  const code = await enrollWith(file, { place: variable, source: `token in ${variable}`, read: async () => token });
  return code === Exit.Done;
}

/**
 * Relative paths start in the folder of the state. Sockets are there too if the container has no other place for them.
 */
function enter(home: string): void {
  try {
    process.chdir(home);
  } catch (error) {
    throw new BootstrapError(
      `the folder ZITI_HOME=${home} cannot be entered: ${obstacle(error)}; mount a volume there`,
    );
  }
  if (isWritable(tmpdir())) return;
  const folder = socketFolder(home);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    process.env.TMPDIR = folder;
  } catch (error) {
    const message = `sockets cannot be created in ${tmpdir()}, and ${writeProblem(folder, error)}`;
    throw new BootstrapError(`${message}, or mount a volume at one of them that this user may write to`);
  }
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function obstacle(error: unknown): string {
  switch (errorCode(error)) {
    case 'ENOENT':
      return 'it does not exist';
    case 'EACCES':
      return 'this user may not enter it';
    default:
      return describeError(error);
  }
}
