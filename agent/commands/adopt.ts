// `adopt [FOLDER]`: takes over an installed router of the reference in place; `--undo` gives it back.

import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, realpathSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { isSea } from 'node:sea';
import { Command } from 'commander';
import { examples } from '#lib/commands/name.ts';
import { print, printError } from '#lib/commands/print.ts';
import { describeError } from '#lib/errors.ts';
import { writeFileAtomic } from '#lib/files/atomic-file.ts';
import { holdStopSignals } from '#lib/process/stop-signal.ts';
import type { Installation } from '../bootstrap/adoption.ts';
import { Exit } from './exit.ts';
import { textReport } from './report.ts';

interface AdoptOptions {
  readonly unit: string;
  readonly undo: boolean;
  readonly yes: boolean;
}

/** The reference's package has these names. */
const PLACE = '/opt/openziti/etc/router';
const UNIT = 'ziti-router.service';

export function adoptCommand(): Command {
  return new Command('adopt')
    .description('take over an installed router of the reference in place, with its configuration and certificates')
    .argument('[folder]', 'the folder with the settings of its package', PLACE)
    .option('--unit <name>', 'the unit of its service', UNIT)
    .option('--undo', 'give the service back', false)
    .option('--yes', 'do it; without this option the command checks, and says what it would do', false)
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

async function adopt(folder: string, { unit, undo, yes }: AdoptOptions): Promise<number> {
  const { findInstallation } = await import('../bootstrap/adoption.ts');
  const installation = findInstallation(folder, unit);
  print(`${unit} runs ${installation.config} as ${installation.user} in ${installation.folder}`);
  return undo ? giveBack(installation, yes) : takeOver(installation, yes);
}

async function takeOver(installation: Installation, yes: boolean): Promise<number> {
  const { dropInText, foreignFiles, identityFiles } = await import('../bootstrap/adoption.ts');
  const { checked, dropIn, unit, user, isAdopted } = installation;
  print(textReport([checked]).trimEnd());
  if (!checked.ok) {
    printError('nothing was changed: correct the configuration first');
    return Exit.Failed;
  }
  for (const file of identityFiles(installation)) print(`keeps ${file}`);
  const foreign = foreignFiles(installation, uidOf(user));
  if (foreign.length > 0) {
    printError(`${user} does not own ${foreign.join(', ')}: the router could not renew them; change their owner first`);
    return Exit.Failed;
  }
  const text = dropInText(installation, ownCommand());
  print(`${isAdopted ? 'replaces' : 'creates'} ${dropIn}:\n${text.replaceAll(/^(?=.)/gm, '  ')}`.trimEnd());
  print(`restarts ${unit}, if it runs; \`adopt --undo --yes\` gives it back`);
  if (!yes) return dryRun();
  await using _ = holdStopSignals((signal) => printError(`${signal}: ${unit} is being adopted`));
  mkdirSync(dirname(dropIn), { recursive: true, mode: 0o755 });
  await writeFileAtomic(dropIn, text, { mode: 0o644 });
  restart(unit);
  return Exit.Done;
}

async function giveBack(installation: Installation, yes: boolean): Promise<number> {
  const { dropIn, unit, isAdopted } = installation;
  if (!isAdopted) {
    print(`${unit} is not adopted: ${dropIn} does not exist`);
    return Exit.Done;
  }
  print(`removes ${dropIn}\nrestarts ${unit}, if it runs, with the program of its package and the same files`);
  const { areCertificatesKnown, pendingFiles } = await import('../bootstrap/adoption.ts');
  if (!areCertificatesKnown(installation)) {
    print(textReport([installation.checked]).trimEnd());
    printError(
      `${installation.config} does not tell which certificates the router uses, so nobody knows whether the controller has confirmed them: nothing was changed; correct the configuration first`,
    );
    return Exit.Failed;
  }
  if (!yes) return dryRun();
  await using _ = holdStopSignals((signal) => printError(`${signal}: ${unit} is being given back`));
  const isRunning = systemd('is-active', '--quiet', unit);
  if (isRunning) systemd('stop', unit); // it waits for certificates that the controller is just confirming
  const pending = pendingFiles(installation);
  if (pending.length > 0) {
    if (isRunning) systemd('start', unit);
    printError(
      `${pending.join(', ')}: the controller has not confirmed these certificates; let this router connect once more, then repeat`,
    );
    return Exit.Failed;
  }
  rmSync(dropIn);
  systemd('daemon-reload');
  if (isRunning) systemd('start', unit);
  print(`${unit} is given back`);
  return Exit.Done;
}

function dryRun(): number {
  print('nothing was changed: pass --yes to do it');
  return Exit.Done;
}

function restart(unit: string): void {
  systemd('daemon-reload');
  if (systemd('is-active', '--quiet', unit)) systemd('restart', unit);
  print(`${unit} is adopted`);
}

/** Returns whether the operation succeeded. Without a running systemd, as in a container, it does nothing. */
function systemd(...args: string[]): boolean {
  return existsSync('/run/systemd/system') && spawnSync('systemctl', args, { stdio: 'inherit' }).status === 0;
}

function uidOf(user: string): number {
  return Number(execFileSync('id', ['-u', user], { encoding: 'utf8' }));
}

/** The executable, or Node with the program of the package. */
function ownCommand(): string {
  return isSea() ? process.execPath : `${process.execPath} ${realpathSync(process.argv[1] ?? '')}`;
}
