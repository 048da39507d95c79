// Replaces `$NAME` and `${NAME}` in every text value. A variable that is not set gives nothing; there is no default syntax and
// no escape (reference fact: config, section 1.2). Keys and values that are not text stay as they are.

import { ownValue } from '#lib/own-value.ts';
import { type ConfigNode, mapNode, scalarNode } from './document.ts';
import { type Finding, finding } from './finding.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

const REFERENCE = /\$(?:\{([^}]*)(\}|$)|([A-Za-z0-9_]+)|([*#@!?$-]))/g;

/** The tree with texts replaced, and a warning for each variable that is not set. */
export function substituteEnvironment(node: ConfigNode, environment: Environment, findings: Finding[]): ConfigNode {
  if (node.kind === 'map')
    return mapNode(
      node,
      new Map([...node.entries].map(([key, value]) => [key, substituteEnvironment(value, environment, findings)])),
    );
  if (node.kind === 'list')
    return { ...node, items: node.items.map((item) => substituteEnvironment(item, environment, findings)) };
  if (typeof node.scalar !== 'string' || !node.scalar.includes('$')) return node;
  const { text, unset, empty } = expand(node.scalar, environment);
  if (text === node.scalar) return node;
  for (const name of unset) {
    findings.push(
      finding({
        severity: 'warning',
        code: 'CFG-ENVIRONMENT',
        path: node.path,
        at: node.at,
        message: `the environment variable ${JSON.stringify(name)} is not set, so nothing stands in its place`,
        hint: name.includes(':-') ? 'there is no default syntax' : '',
      }),
    );
  }
  return { ...scalarNode(node, text, true), unset: [...unset, ...empty] };
}

/** `unset` and `empty` are the variables without a value. A digit after `$` is a name of one character, unlike longer names. */
export function expand(
  text: string,
  environment: Environment,
): { text: string; unset: readonly string[]; empty: readonly string[] } {
  const unset: string[] = [];
  const empty: string[] = [];
  const expanded = text.replace(
    REFERENCE,
    (
      whole: string,
      braced: string | undefined,
      closing: string | undefined,
      plain: string | undefined,
      special: string | undefined,
    ) => {
      if (braced !== undefined && (closing !== '}' || braced === '')) return '';
      const digit = plain !== undefined && /^\d/.test(plain) ? plain.charAt(0) : undefined;
      const name = braced ?? digit ?? plain ?? special ?? '';
      const value = ownValue(environment, name);
      if (value === undefined) unset.push(name);
      else if (value === '') empty.push(name);
      const rest = digit === undefined ? '' : whole.slice(2);
      return (value ?? '') + rest;
    },
  );
  return { text: expanded, unset, empty };
}
