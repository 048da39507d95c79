// Replaces `$NAME` and `${NAME}` in every string value. An unset variable becomes empty; there is no default syntax and
// no escape (reference fact: config, section 1.2). Keys and values of other types stay unchanged.

import { ownValue } from '#lib/json/own-value.ts';
import { type Finding, finding } from '../finding.ts';
import { type ConfigNode, mapNode, scalarNode } from './document.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

const REFERENCE = /\$(?:\{([^}]*)(\}|$)|([A-Za-z0-9_]+)|([*#@!?$-]))/g;

/** Returns the tree with substituted strings, and adds a warning for each unset variable. */
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
        message: `the environment variable ${JSON.stringify(name)} is not set and is replaced by nothing`,
        hint: name.includes(':-') ? 'default values are not supported' : '',
      }),
    );
  }
  return { ...scalarNode(node, text, true), unset: [...unset, ...empty] };
}

/**
 * `unset` and `empty` are the variables without a value. After `$`, a digit is a one-character name, unlike letters.
 */
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
