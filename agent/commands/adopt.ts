// `adopt [FOLDER]`: takes over an installed router of the reference in place; `--undo` gives it back. Both check the
// direction that they go, watch the service, and go back by themselves if it does not become ready.

import { existsSync } from 'node:fs';
import { Command } from 'commander';
import { examples } from '#lib/commands/name.ts';
import { print, printError } from '#lib/commands/print.ts';
import { describeError } from '#lib/errors.ts';
import { holdStopSignals } from '#lib/process/stop-signal.ts';
import { SystemClock } from '#lib/time/clock.ts';
import type { Installation } from '../bootstrap/adoption.ts';
import type { ServiceProgram } from '../bootstrap/program-change.ts';
import type { Finding } from '../config/finding.ts';
import { ownCommand, ownProgram, packageProgram } from './adopt-programs.ts';
import { seconds } from './durations.ts';
import { Exit } from './exit.ts';
import { textReport } from './report.ts';

interface AdoptOptions {
  readonly unit: string;
  readonly undo: boolean;
  readonly yes: boolean;
  readonly force: boolean;
  /** Seconds. */
  readonly wait: number;
}

/** The reference's package has these names. */
const PLACE = '/opt/openziti/etc/router';
const UNIT = 'ziti-router.service';
/** Seconds: the checks of health begin up to 45 s after the start, by default. */
const WAIT_SECONDS = 90;
export function adoptCommand(): Command {
  return new Command('adopt')
    .description('take over an installed router of the reference in place, with its configuration and certificates')
    .argument('[folder]', 'the folder with the settings of its package', PLACE)
    .option('--unit <name>', 'the unit of its service', UNIT)
    .option('--undo', 'give the service back', false)
    .option('--yes', 'do it; without this option the command checks, and says what it would do', false)
    .option(
      '--wait <seconds>',
      'time until the service must be ready; if it is not, the command goes back. 0: do not watch it',
      seconds,
      WAIT_SECONDS,
    )
    .option('--force', 'with --undo: also with a configuration that the reference is known to reject', false)
    .addHelpText('after', examples('router', `adopt ${PLACE}`, 'adopt --yes', 'adopt --undo --yes'))
    .action(async (folder: string, options: AdoptOptions) => {
      try {
        process.exitCode = await adopt(folder, options);
      } catch (error) {
        printError(describeError(error));
        process.exitCode = Exit.Failed;
      }
    });
}

async function adopt(folder: string, options: AdoptOptions): Promise<number> {
  const { adoptionFile, findInstallation, isInstalled } = await import('../bootstrap/adoption.ts');
  const { unit, undo, yes } = options;
  const dropIn = adoptionFile(unit);
  if (undo && !isInstalled(unit) && existsSync(dropIn)) return removeRest(dropIn, unit, yes);
  const installation = findInstallation(folder, unit);
  print(`${unit} runs ${installation.config} as ${installation.user} in ${installation.folder}`);
  return undo ? giveBack(installation, options) : takeOver(installation, options);
}

async function takeOver(installation: Installation, options: AdoptOptions): Promise<number> {
  const { foreignFiles, identityFiles } = await import('../bootstrap/adoption.ts');
  const { checked, dropIn, unit, user, present } = installation;
  print(textReport([checked]).trimEnd());
  if (!checked.ok) return nothingChanged('correct the configuration first');
  for (const file of identityFiles(installation)) print(`keeps ${file}`);
  const { userId } = await import('../bootstrap/executable.ts');
  const uid = userId(user);
  if (uid === undefined) return nothingChanged(`the user ${user} of ${unit} does not exist; create it first`);
  const foreign = foreignFiles(installation, uid);
  if (foreign.length > 0)
    return nothingChanged(
      `${user} does not own ${foreign.join(', ')}: the router could not renew them; change their owner first`,
    );
  const problem = await ownProgramProblem(installation);
  if (problem !== undefined)
    return nothingChanged(`${problem}; install it where ${user} may execute it, such as in /usr/local/bin`);
  const program = await ownProgram(installation);
  print(`${present === undefined ? 'creates' : 'replaces'} ${dropIn}:\n${indented(program.dropIn ?? '')}`);
  print(`restarts ${unit}, if it runs, and watches it; \`adopt --undo --yes\` gives it back`);
  if (rejected(installation).length > 0)
    print('the reference does not start with this configuration: `adopt --undo` needs a corrected one');
  if (!options.yes) return dryRun();
  const before = present === undefined ? await packageProgram(installation) : { ...program, dropIn: present };
  if (!(await change(installation, options, before, program))) return Exit.Failed;
  print(`${unit} is adopted`);
  return Exit.Done;
}

async function giveBack(installation: Installation, options: AdoptOptions): Promise<number> {
  const { dropIn, unit, present, checked, config, program } = installation;
  if (present === undefined) {
    print(`${unit} is not adopted: ${dropIn} does not exist`);
    return Exit.Done;
  }
  print(`removes ${dropIn}\nrestarts ${unit}, if it runs, with the program of its package and the same files`);
  const { areCertificatesKnown } = await import('../bootstrap/adoption.ts');
  if (!areCertificatesKnown(installation)) {
    print(textReport([checked]).trimEnd());
    return nothingChanged(
      `${config} does not tell which certificates the router uses, so nobody knows whether the controller has confirmed them; correct the configuration first`,
    );
  }
  const findings = checked.findings.filter((each) => each.code === 'CFG-PORTABILITY' || each.rejectedByReference);
  if (findings.length > 0) print(textReport([{ ...checked, findings }]).trimEnd());
  const mistakes = rejected(installation);
  if (mistakes.length > 0 && !options.force)
    return nothingChanged(
      `the reference does not start with ${mistakes.map(({ path }) => path).join(', ')} of ${config}: remove it first; --force tries it all the same`,
    );
  const { executionProblem } = await import('../bootstrap/executable.ts');
  const problem = program.startsWith('/') ? executionProblem(installation.account, [program]) : undefined;
  if (problem !== undefined && (await isRunning(unit)))
    return nothingChanged(`${problem}; install the package of ${program} again, or stop ${unit} first`);
  if (!options.yes) return dryRun();
  const own = { ...(await ownProgram(installation)), dropIn: present };
  if (!(await change(installation, options, own, await packageProgram(installation)))) return Exit.Failed;
  print(`${unit} is given back`);
  return Exit.Done;
}

/** The unit was removed while it was adopted: only the drop-in is left. */
async function removeRest(dropIn: string, unit: string, yes: boolean): Promise<number> {
  print(`there is no unit ${unit} any longer; removes ${dropIn}`);
  if (!yes) return dryRun();
  const { removeDropIn } = await import('../bootstrap/program-change.ts');
  removeDropIn(dropIn);
  return Exit.Done;
}

async function change(
  { dropIn: file, unit }: Installation,
  { wait, undo }: AdoptOptions,
  from: ServiceProgram,
  to: ServiceProgram,
): Promise<boolean> {
  const { changeProgram } = await import('../bootstrap/program-change.ts');
  const { Service } = await import('../bootstrap/service.ts');
  const interrupted = new AbortController();
  await using _ = holdStopSignals((signal) => {
    printError(`${signal}: ${unit} is being ${undo ? 'given back' : 'adopted'}; a second signal ends at once`);
    interrupted.abort(signal);
  });
  return await changeProgram({
    service: new Service(unit),
    clock: new SystemClock(),
    file,
    from,
    to,
    signal: interrupted.signal,
    limit: wait * 1_000,
    report: printError,
  });
}

/** The sentence about why the service's user cannot run this program. */
async function ownProgramProblem({ account }: Installation): Promise<string | undefined> {
  if (process.getuid?.() !== 0) return undefined; // only root can try it as another user
  const { executionProblem, runProblem } = await import('../bootstrap/executable.ts');
  return executionProblem(account, ownCommand()) ?? runProblem(account, ownCommand());
}

function rejected({ checked }: Installation): Finding[] {
  return checked.findings.filter((each) => each.rejectedByReference);
}

async function isRunning(unit: string): Promise<boolean> {
  const { Service } = await import('../bootstrap/service.ts');
  return new Service(unit).isRunning;
}

function nothingChanged(reason: string): number {
  printError(`nothing was changed: ${reason}`);
  return Exit.Failed;
}

function dryRun(): number {
  print('nothing was changed: pass --yes to do it');
  return Exit.Done;
}

function indented(text: string): string {
  return text.replaceAll(/^(?=.)/gm, '  ').trimEnd();
}
