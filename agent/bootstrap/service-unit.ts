// Reads a systemd unit with its drop-ins, as far as an adoption needs it: the user, the folder, the variables and the
// command of a service. A later file replaces single values; an empty list value discards those before it.

import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { errorCode } from '#lib/errors.ts';
import { readTextFileSync } from '#lib/files/text-file.ts';

/** The folders of units, the most important one first. */
const UNIT_FOLDERS = ['/etc/systemd/system', '/run/systemd/system', '/usr/lib/systemd/system', '/lib/systemd/system'];
/** Where an operator's drop-ins are. */
const OWN_FOLDER = UNIT_FOLDERS[0] ?? '';
const LISTS: ReadonlySet<string> = new Set(['ExecStart', 'EnvironmentFile', 'Environment', 'SupplementaryGroups']);

export interface ServiceUnit {
  /** All files that define it, in the order in which they apply. */
  readonly files: readonly string[];
  readonly user: string | undefined;
  readonly group: string | undefined;
  readonly supplementaryGroups: readonly string[];
  readonly workingDirectory: string | undefined;
  /** The commands, with their arguments. */
  readonly commands: readonly string[];
  readonly environmentFiles: readonly string[];
  /** The variables of the unit itself; those of its files replace them. */
  readonly variables: Readonly<Record<string, string>>;
}

/** The path of an operator's drop-in. */
export function dropInPath(unit: string, name: string): string {
  return join(OWN_FOLDER, `${unit}.d`, name);
}

/** Returns undefined if there is no such unit. @param ignored Names of drop-ins that are not read. */
export function readServiceUnit(unit: string, ignored: readonly string[] = []): ServiceUnit | undefined {
  const main = UNIT_FOLDERS.map((folder) => join(folder, unit)).find((file) => readOptional(file) !== undefined);
  if (main === undefined) return undefined;
  const dropIns = new Map<string, string>();
  for (const folder of UNIT_FOLDERS.toReversed())
    for (const name of listOptional(join(folder, `${unit}.d`)))
      if (name.endsWith('.conf') && !ignored.includes(name)) dropIns.set(name, join(folder, `${unit}.d`, name));
  const files = [main, ...[...dropIns.values()].sort((a, b) => (basename(a) < basename(b) ? -1 : 1))];
  const values = new Map<string, string[]>();
  for (const file of files) apply(values, readOptional(file) ?? '');
  const last = (key: string) => values.get(key)?.at(-1);
  return {
    files,
    user: last('User'),
    group: last('Group'),
    supplementaryGroups: (values.get('SupplementaryGroups') ?? []).flatMap((text) => text.split(/\s+/)),
    workingDirectory: last('WorkingDirectory')?.replace(/^-/, ''),
    commands: values.get('ExecStart') ?? [],
    environmentFiles: (values.get('EnvironmentFile') ?? []).map((file) => file.replace(/^-/, '')),
    variables: Object.assign({}, ...(values.get('Environment') ?? []).map(assignments)) as Record<string, string>,
  };
}

/** The variables of a line such as `A=1 "B=two words"`. */
function assignments(line: string): Record<string, string> {
  const words = [...line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map((match) => match[1] ?? match[2] ?? match[3] ?? '');
  return Object.fromEntries(words.filter((word) => word.includes('=')).map((word) => word.split(/=(.*)/s, 2)));
}

/** The variables of a file for `EnvironmentFile`. */
export function readVariables(file: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const line of (readOptional(file) ?? '').split('\n')) {
    const { name = '', value = '' } = /^\s*(?<name>[A-Za-z_]\w*)=(?<value>.*)$/.exec(line)?.groups ?? {};
    if (name !== '') found[name] = value.trim().replace(/^(['"])(.*)\1$/, '$2');
  }
  return found;
}

function apply(values: Map<string, string[]>, text: string): void {
  let section = '';
  for (const line of text.replaceAll(/\\\n/g, ' ').split('\n')) {
    section = /^\s*\[(\w+)\]/.exec(line)?.[1] ?? section;
    const { key = '', value = '' } = /^\s*(?<key>\w+)\s*=\s*(?<value>.*?)\s*$/.exec(line)?.groups ?? {};
    if (section !== 'Service' || key === '') continue;
    const before = LISTS.has(key) && value !== '' ? (values.get(key) ?? []) : [];
    values.set(key, value === '' ? [] : [...before, value]);
  }
}

function readOptional(file: string): string | undefined {
  try {
    return readTextFileSync(file);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

function listOptional(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return [];
    throw error;
  }
}
