// Loads a file into a frozen RouterConfig: text → document with positions → environment → uniform spelling → values,
// checked by the schema and with defaults → checks. User mistakes become findings.

import { readFileSync, statSync } from 'node:fs';
import { commandName } from '#lib/commands/name.ts';
import { errorCode } from '#lib/errors.ts';
import { readProblem } from '#lib/files/read-problem.ts';
import { readTextFileSync } from '#lib/files/text-file.ts';
import { deepFreeze } from '#lib/json/deep-freeze.ts';
import { SystemClock } from '#lib/time/clock.ts';
import { checkBackoff } from './checks/backoff.ts';
import type { Check, CheckInput } from './checks/check.ts';
import { checkFiles } from './checks/files.ts';
import { checkIdentity } from './checks/identity.ts';
import { checkPorts } from './checks/ports.ts';
import { checkSections } from './checks/sections.ts';
import { checkTunnel } from './checks/tunnel.ts';
import { checkValues } from './checks/values.ts';
import { type Finding, finding, inOrder, isAcceptable } from './finding.ts';
import { type ResolvedValue, resolve } from './resolve.ts';
import type { RouterConfig } from './router-config.ts';
import { ROUTER_SCHEMA } from './router-schema.ts';
import { type ConfigNode, nearestNode, readDocument } from './text/document.ts';
import { type Environment, substituteEnvironment } from './text/environment.ts';
import { normalize } from './text/normalize.ts';
import { redacted, type Secret } from './text/secret.ts';
import { writtenTree } from './written-tree.ts';

export interface LoadOptions {
  /** Skip checks that need the identity files: enrollment creates them. */
  beforeEnrollment?: boolean;
  /**
   * The router renews its certificates at its start (`--extend`), so it may advertise names that only the new ones
   * have.
   */
  extend?: boolean;
  environment?: Environment;
  /** Reads identity files; default: node:fs. */
  readFile?: (path: string) => string;
  /** Milliseconds since the epoch, for expiry dates. */
  now?: number;
}

export interface LoadedConfig {
  readonly file: string;
  /** True if the router would start; `config` is set then. */
  readonly ok: boolean;
  readonly config?: RouterConfig;
  /** In the order of the file. */
  readonly findings: Finding[];
  /** Every value with its source. */
  readonly values: ResolvedValue[];
}

const CHECKS: readonly Check[] = [
  checkSections,
  checkBackoff,
  checkPorts,
  checkValues,
  checkTunnel,
  checkFiles,
  checkIdentity,
];
/** Far above the size of any configuration. */
const MAX_FILE_BYTES = 1024 * 1024;
/** Findings of a file: each one is searched for each secret. */
const MAX_FINDINGS = 1_000;
const START = { line: 1, column: 1 };

/** Reads and checks a file. Never throws for its content. */
export function loadRouterConfig(file: string, options: LoadOptions = {}): LoadedConfig {
  if (file === '') return rejected(file, 'the name of the file is empty', 'pass the path of a configuration file');
  let bytes: Buffer;
  try {
    const stat = statSync(file);
    if (stat.isDirectory()) return rejected(file, `${file} is a folder; name a file`);
    if (!stat.isFile()) return rejected(file, `${file} is not a file`);
    if (stat.size > MAX_FILE_BYTES) return tooLarge(file, stat.size);
    bytes = readFileSync(file);
  } catch (error) {
    if (errorCode(error) === 'ENOENT')
      return rejected(
        file,
        `${file} does not exist`,
        `\`${commandName('router')} config init --output FILE\` writes a new one`,
      );
    return rejected(file, readProblem(file, error));
  }
  return checkRouterBytes(bytes, file, options);
}

/** Checks the content of a file; `file` is its name. */
export function checkRouterBytes(bytes: Buffer, file: string, options: LoadOptions = {}): LoadedConfig {
  if (bytes.length > MAX_FILE_BYTES) return tooLarge(file, bytes.length);
  if (bytes.includes(0)) return rejected(file, `${file} contains NUL bytes, so it is not a text file`);
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return rejected(file, `${file} is not UTF-8 text`); // the decoder's own error has no details
  }
  return checkRouterConfig(text, file, options);
}

function rejected(file: string, message: string, hint = ''): LoadedConfig {
  const findings = [finding({ code: 'CFG-FILE', path: '', at: START, message, hint })];
  return { file, ok: false, values: [], findings };
}

function tooLarge(file: string, size: number): LoadedConfig {
  return rejected(file, `${file} has ${size} bytes; the limit is ${MAX_FILE_BYTES}`);
}

/** Checks the text of a configuration; `file` is its name. */
export function checkRouterConfig(text: string, file: string, options: LoadOptions = {}): LoadedConfig {
  const read = readDocument(text);
  if (!read.root) return { file, ok: false, findings: inOrder(read.findings), values: [] };
  const unset: Finding[] = [];
  const environment = substituteEnvironment(read.root, options.environment ?? process.env, unset);
  const normalized = normalize(environment, ROUTER_SCHEMA);
  const { root } = normalized;
  const resolution = resolve(root, ROUTER_SCHEMA);
  const findings = [...read.findings, ...normalized.findings, ...resolution.findings];
  // An error at the same place already names the variable.
  const mistakes = new Set(findings.filter(({ severity }) => severity === 'error').map(({ path }) => path));
  findings.push(...unset.filter(({ path }) => !mistakes.has(path)));
  const config = { ...(resolution.value as object), file, written: writtenTree(resolution.values) } as RouterConfig;
  if (isAcceptable(findings)) {
    const input: CheckInput = {
      config,
      root,
      readFile: options.readFile ?? readTextFileSync,
      now: options.now ?? new SystemClock().now(),
      beforeEnrollment: options.beforeEnrollment ?? false,
      renewsAtStart: options.extend ?? false,
    };
    for (const check of CHECKS) findings.push(...check(input));
  }
  const ok = isAcceptable(findings);
  return {
    file,
    ok,
    findings: inOrder(redacted(limited(findings), asInFile(resolution.secrets, read.root))),
    values: resolution.values,
    ...(ok && { config: deepFreeze(config) }),
  };
}

/** The first findings, errors before all others, and one that counts the omitted ones. */
function limited(findings: readonly Finding[]): readonly Finding[] {
  if (findings.length <= MAX_FINDINGS) return findings;
  const { true: errors = [], false: others = [] } = Object.groupBy(inOrder(findings), ({ severity }) =>
    severity === 'error' ? 'true' : 'false',
  );
  const message = `the file has ${findings.length - MAX_FINDINGS} more findings, which are omitted`;
  const hint = 'correct the others, and check the file again';
  const about = finding({ severity: 'warning', code: 'CFG-TOO-LARGE', path: '', at: START, message, hint });
  return [about, ...[...errors, ...others].slice(0, MAX_FINDINGS)];
}

/** Secrets, including their text before environment substitution. */
function asInFile(secrets: readonly Secret[], root: ConfigNode): Secret[] {
  return secrets.map(({ path, texts }) => ({ path, texts: [...texts, String(nearestNode(root, path).scalar ?? '')] }));
}
