// Compares the variables of a container with its configuration file, which was created from them at the first start.
// The file counts, so the operator is told which changed or invalid variables have no effect.

import { plain, readDocument } from '../config/text/document.ts';
import type { Environment } from '../config/text/environment.ts';
import { configText, isCreatedFromVariables } from './config-file.ts';
import { BootstrapError, readConfigSettings } from './settings.ts';

/** Differences that are written out. */
const SHOWN = 5;
/** Names in certificates: the file also has the host name of the container that created it. */
const NAMES = /^csr\.sans\./;

/**
 * Lines for the operator; none if the file says the same, or comes from elsewhere.
 * @param text The content of the file.
 */
export function variableChanges(text: string, file: string, environment: Environment, home: string): string[] {
  if (!isCreatedFromVariables(text)) return [];
  const remedy = `set ZITI_BOOTSTRAP_CONFIG=force for one start, or change ${file}`;
  let described: Map<string, string>;
  try {
    described = valuesOf(configText(readConfigSettings(environment, home, '')));
  } catch (error) {
    if (!(error instanceof BootstrapError)) throw error;
    return error.message.split('\n').map((line) => `no effect, since ${file} exists: ${line}`);
  }
  const differences = differencesOf(described, valuesOf(text));
  if (differences.length === 0) return [];
  const rest = differences.length - SHOWN;
  const list = [...differences.slice(0, SHOWN), ...(rest > 0 ? [`${rest} more`] : [])].join('; ');
  return [`the variables have changed, and ${file} counts: ${list}. To use the variables, ${remedy}`];
}

function differencesOf(described: ReadonlyMap<string, string>, written: ReadonlyMap<string, string>): string[] {
  const names = new Set([...written].flatMap(([path, value]) => (NAMES.test(path) ? [value] : [])));
  const changed = [...described].flatMap(([path, value]) => {
    const found = written.get(path);
    if (NAMES.test(path)) return names.has(value) ? [] : [`${path} has no ${value}`];
    if (found === value) return [];
    return [
      found === undefined ? `${path} is not set, and would be ${value}` : `${path} is ${found}, and would be ${value}`,
    ];
  });
  const removed = [...written.keys()].filter((path) => !described.has(path) && !NAMES.test(path));
  return [...changed, ...removed.map((path) => `${path} is set, and would not be`)];
}

/** Path → value of each scalar. */
function valuesOf(text: string): Map<string, string> {
  const { root } = readDocument(text);
  return new Map(root ? scalars(plain(root), '') : []);
}

function scalars(value: unknown, path: string): [path: string, value: string][] {
  if (Array.isArray(value)) return value.flatMap((each, index) => scalars(each, `${path}[${index}]`));
  if (value !== null && typeof value === 'object')
    return Object.entries(value).flatMap(([key, each]) => scalars(each, path === '' ? key : `${path}.${key}`));
  return [[path, String(value)]];
}
