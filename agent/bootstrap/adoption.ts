// Takes over an installation of the reference's package in place: one drop-in of its unit replaces the command. User,
// folder, configuration, keys and certificates stay, so that removing the drop-in gives the installation back.

import { existsSync, lstatSync, readdirSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { type LoadedConfig, loadRouterConfig } from '../config/load.ts';
import { ownFiles } from '../config/own-files.ts';
import { dropInPath, readServiceUnit, readVariables } from './service-unit.ts';

/** Sorted after the drop-ins of the reference and of operators. */
const DROP_IN = 'zz-edgeweave.conf';
const PENDING = '.pending';

export class AdoptionError extends Error {}

export interface Installation {
  readonly unit: string;
  readonly user: string;
  /** Folder of the state; relative paths of the configuration start there. */
  readonly folder: string;
  readonly config: string;
  readonly dropIn: string;
  readonly isAdopted: boolean;
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
  const { files, user = 'root', workingDirectory: folder, commands, environmentFiles } = found;
  const uses = (file: string) => resolve(file).startsWith(`${resolve(place)}/`);
  if (!environmentFiles.some(uses) && !commands.some((each) => each.includes(`${resolve(place)}/`)))
    throw new AdoptionError(
      `${unit} (${files.join(', ')}) does not use ${place}; pass the folder of its EnvironmentFile, or another --unit`,
    );
  const { file, rest = '' } = /\brun\s+(?<file>\S+)\s*(?<rest>.*)$/.exec(commands.at(-1) ?? '')?.groups ?? {};
  if (file === undefined || folder === undefined)
    throw new AdoptionError(`${unit} has no command "run FILE" or no WorkingDirectory: it is not the unit of a router`);
  if (!existsSync(folder)) throw new AdoptionError(`${folder}, the WorkingDirectory of ${unit}, does not exist`);
  process.chdir(folder);
  const environment = Object.assign({}, ...environmentFiles.map(readVariables)) as Record<string, string>;
  const checked = loadRouterConfig(file, { environment });
  const dropIn = dropInPath(unit, DROP_IN);
  return { unit, user, folder, config: resolve(file), dropIn, isAdopted: existsSync(dropIn), rest, checked };
}

/** The keys and certificates that the service uses and keeps. */
export function identityFiles({ checked: { config } }: Installation): string[] {
  const files = config ? ownFiles(config) : [];
  return [...new Set(files.flatMap(({ key, path }) => (/\bidentity\b/.test(key) ? [resolve(path)] : [])))];
}

/** Files that belong to another user, whom the service may not replace. @param uid Of the service's user. */
export function foreignFiles(installation: Installation, uid: number): string[] {
  return identityFiles(installation).filter((file) => statSync(file, { throwIfNoEntry: false })?.uid !== uid);
}

/** Certificates that the controller has not confirmed: only this router can find out which ones are valid. */
export function pendingFiles(installation: Installation): string[] {
  const folders = new Set(identityFiles(installation).map(dirname));
  return [...folders].flatMap((folder) =>
    readdirSync(folder)
      .filter((name) => name.endsWith(PENDING) && lstatSync(join(folder, name)).isFile())
      .map((name) => join(folder, name)),
  );
}

/** The drop-in. @param program The command line of this program, without arguments. */
export function dropInText({ config, rest }: Installation, program: string): string {
  return `# Written by \`edgeweave-router adopt\`; \`edgeweave-router adopt --undo\` removes it.
[Service]
ExecStart=
ExecStart=${program} run ${config} ${rest}
Environment=MALLOC_ARENA_MAX=1
# The drain of open circuits, and certificates that the controller is just confirming.
TimeoutStopSec=60
`;
}
