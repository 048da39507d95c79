// Takes over an installation of the reference's package in place: one drop-in of its unit replaces the command. User,
// folder, configuration, keys and certificates stay, so that removing the drop-in gives the installation back.

import { existsSync, lstatSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { linkedFile } from '#lib/files/symbolic-links.ts';
import { type LoadedConfig, loadRouterConfig } from '../config/load.ts';
import { ownFiles, writtenFiles } from '../config/own-files.ts';
import type { ServiceUser } from './executable.ts';
import { dropInPath, readServiceUnit, readVariables } from './service-unit.ts';

/** Sorted after the drop-ins of the reference and of operators. */
const DROP_IN = 'zz-edgeweave.conf';
const PENDING = '.pending';
/** Keys of the configuration with certificates. */
const IDENTITY = /\bidentity\b/;

export class AdoptionError extends Error {}

export interface Installation {
  /** Folder with the settings of the package. */
  readonly place: string;
  readonly unit: string;
  readonly user: string;
  /** With its groups. */
  readonly account: ServiceUser;
  /** Folder of the state; relative paths of the configuration start there. */
  readonly folder: string;
  readonly config: string;
  readonly dropIn: string;
  /** Content of the drop-in; undefined if the service is not adopted. */
  readonly present: string | undefined;
  /** The program of the package, as the unit has it. */
  readonly program: string;
  /** The arguments of the service after `run FILE`, as its unit has them. */
  readonly rest: string;
  readonly checked: LoadedConfig;
}

/**
 * Finds the installation of a service. Changes the working folder to that of the service.
 * @param place Folder with the settings of its package, such as /opt/openziti/etc/router
 * @throws AdoptionError with the remedy
 */
export function findInstallation(place: string, unit: string): Installation {
  const found = readServiceUnit(unit, [DROP_IN]);
  if (!found)
    throw new AdoptionError(`there is no unit ${unit}; name the unit of the router with --unit, or follow the guide`);
  const { files, user = 'root', workingDirectory: folder, commands, environmentFiles, variables } = found;
  const uses = (file: string) => resolve(file).startsWith(`${resolve(place)}/`);
  if (!environmentFiles.some(uses) && !commands.some((each) => each.includes(`${resolve(place)}/`)))
    throw new AdoptionError(
      `${unit} (${files.join(', ')}) does not use ${place}; pass the folder of its EnvironmentFile, or another --unit`,
    );
  const [command = ''] = commands.slice(-1);
  const { file, rest = '' } = /\brun\s+(?<file>\S+)\s*(?<rest>.*)$/.exec(command)?.groups ?? {};
  if (file === undefined || folder === undefined)
    throw new AdoptionError(`${unit} has no command "run FILE" or no WorkingDirectory: it is not the unit of a router`);
  if (!existsSync(folder)) throw new AdoptionError(`${folder}, the WorkingDirectory of ${unit}, does not exist`);
  process.chdir(folder);
  const environment = Object.assign({}, variables, ...environmentFiles.map(readVariables)) as Record<string, string>;
  const checked = loadRouterConfig(file, { environment });
  const dropIn = adoptionFile(unit);
  const present = existsSync(dropIn) ? readFileSync(dropIn, 'utf8') : undefined;
  const program = /^[-@:+!|]*"?(?<path>[^\s"]+)/.exec(command)?.groups?.path ?? '';
  const config = resolve(file);
  return { place, unit, user, account: found, folder, config, dropIn, present, program, rest, checked };
}

export function isInstalled(unit: string): boolean {
  return readServiceUnit(unit) !== undefined;
}

/** The drop-in with which a service runs this program. */
export function adoptionFile(unit: string): string {
  return dropInPath(unit, DROP_IN);
}

/** The keys and certificates that the service uses and keeps; of an invalid configuration, those that it names. */
export function identityFiles({ checked: { config, values } }: Installation): string[] {
  const files = config ? ownFiles(config).filter(({ key }) => IDENTITY.test(key)) : writtenFiles(values, IDENTITY);
  return [...new Set(files.map(({ path }) => resolve(path)))];
}

/** Whether the configuration tells where the router's certificates are, even if it is invalid otherwise. */
export function areCertificatesKnown({ checked: { config, values } }: Installation): boolean {
  return config !== undefined || values.some(({ path, written }) => path === 'identity.cert' && written !== undefined);
}

/** Files that belong to another user, whom the service may not replace. @param uid Of the service's user. */
export function foreignFiles(installation: Installation, uid: number): string[] {
  return identityFiles(installation).filter((file) => statSync(file, { throwIfNoEntry: false })?.uid !== uid);
}

/** Certificates that the controller has not confirmed: only this router can find out which ones are valid. */
export function pendingFiles(installation: Installation): string[] {
  const files = identityFiles(installation).flatMap((file) => [file, linkedFile(file)]);
  const folders = new Set(files.map(dirname));
  return [...folders].filter(existsSync).flatMap((folder) =>
    readdirSync(folder)
      .filter((name) => name.endsWith(PENDING) && lstatSync(join(folder, name)).isFile())
      .map((name) => join(folder, name)),
  );
}

/**
 * The drop-in.
 * @param program The command line of this program, without arguments.
 * @param socketFolder Name of the folder in /run for its socket.
 */
export function dropInText({ place, unit, config, rest }: Installation, program: string, socketFolder: string): string {
  return `# Written by \`edgeweave-router adopt\`. This command removes it:
# edgeweave-router adopt ${place} --unit ${unit} --undo --yes
[Service]
ExecStart=
ExecStart=${program} run ${config} ${rest}
Environment=MALLOC_ARENA_MAX=1
# The socket for \`edgeweave-router health\`, \`inspect\` and \`drain\`.
RuntimeDirectory=${socketFolder}
# The drain of open circuits, and certificates that the controller is just confirming.
TimeoutStopSec=60
`;
}
