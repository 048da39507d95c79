// Checks options that a program passes to a function of the package. TypeScript finds most mistakes earlier;
// JavaScript, `any` and values from files and the environment are checked here. The command lines use the same checks,
// so that both reject the same values with the same messages.

import { isIP } from 'node:net';
import { domainToASCII } from 'node:url';
import { ProjectError } from './errors.ts';
import { isMap } from './json/is-map.ts';
import { hostProblem, isAscii, MAX_PORT } from './net/address.ts';
import { didYouMean, meantOrKnown } from './text/suggestion.ts';

/** Returns one sentence with the problem of a value and the remedy; undefined for a valid one. */
export type OptionCheck = (value: unknown) => string | undefined;

/** An unknown option or an invalid value. The function has not started anything. */
export class OptionError extends ProjectError {
  constructor(message: string) {
    super('BAD_OPTION', message);
  }
}

/**
 * @throws OptionError for the first unknown or invalid option, or one of `required` that is missing. Options that are
 * undefined count as missing.
 */
export function checkOptions(
  caller: string,
  options: unknown,
  checks: Readonly<Record<string, OptionCheck>>,
  required: readonly string[] = [],
): void {
  if (!isMap(options))
    throw new OptionError(`${caller}: the options must be an object, for example {}, not ${kindOf(options)}`);
  const names = Object.keys(checks);
  for (const [name, value] of Object.entries(options)) {
    const check = Object.hasOwn(checks, name) ? checks[name] : undefined;
    if (!check) {
      const remedy = meantOrKnown(name, names);
      throw new OptionError(`${caller}: unknown option ${name}; ${remedy}`);
    }
    const problem = value === undefined ? undefined : check(value);
    if (problem !== undefined) throw new OptionError(`${caller}: the option ${name} is invalid. ${problem}`);
  }
  for (const name of required)
    if (options[name] === undefined) throw new OptionError(`${caller}: the option ${name} is missing`);
}

/** A string with at least one character that is not white space. */
export const notEmpty: OptionCheck = (value) => {
  if (typeof value !== 'string') return `It must be a string, not ${kindOf(value)}.`;
  return value.trim() === '' ? 'It must not be empty.' : undefined;
};

/** The path of a file or folder. */
export const path: OptionCheck = (value) =>
  notEmpty(value) ?? (String(value).includes('\0') ? 'A path must not contain NUL characters.' : undefined);

/**
 * A host under which others reach a program: without a port, and without the zone of an IPv6 address. `example` appears
 * in the message if no better one can be derived.
 */
export function hostForOthers(example: string): OptionCheck {
  return (value) => {
    const text = typeof value === 'string' ? value : '';
    if (hostProblem(text) === undefined && !text.includes('%'))
      return isAscii(text)
        ? undefined
        : `Certificates contain ASCII names only: write ${domainToASCII(text) || example}.`;
    const bare = text.replace(/^\[(.*)\](:\d+)?$|:\d+$/, '$1');
    const meant = hostProblem(bare) === undefined && isIP(text) === 0 ? bare : example;
    return `Use a host name or an IP address without a port, for example ${meant}.`;
  };
}

export const boolean: OptionCheck = (value) =>
  typeof value === 'boolean' ? undefined : `It must be true or false, not ${kindOf(value)}.`;

export function stringOfLength(min: number, max: number): OptionCheck {
  return (value) => {
    if (typeof value !== 'string') return `It must be a string, not ${kindOf(value)}.`;
    const { length } = value;
    return length >= min && length <= max ? undefined : `It must have ${min} to ${max} characters, not ${length}.`;
  };
}

export function integer(min: number, max: number): OptionCheck {
  return (value) =>
    Number.isInteger(value) && (value as number) >= min && (value as number) <= max
      ? undefined
      : `It must be a whole number from ${min} to ${max}.`;
}

/** A port of TCP or UDP; 0 asks the system for a free one. */
export const port = integer(0, MAX_PORT);

export function oneOf(...allowed: readonly string[]): OptionCheck {
  return (value) => {
    if (typeof value === 'string' && allowed.includes(value)) return undefined;
    const meant = typeof value === 'string' ? didYouMean(value, allowed) : '';
    return `It must be one of ${allowed.join(', ')}.${meant && ` D${meant.slice(1)}`}`;
  };
}

/** Each element of a list must pass the check. */
export function listOf(check: OptionCheck): OptionCheck {
  return (value) => {
    if (!Array.isArray(value)) return `It must be a list, not ${kindOf(value)}.`;
    for (const each of value) {
      const problem = check(each);
      if (problem !== undefined) return problem;
    }
    return undefined;
  };
}

export const isFunction: OptionCheck = (value) =>
  typeof value === 'function' ? undefined : `It must be a function, not ${kindOf(value)}.`;

/** An object with these functions; `made` names the source of such objects. */
export function objectWith(functions: readonly string[], made: string): OptionCheck {
  return (value) => {
    const object = typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
    return object && functions.every((name) => typeof object[name] === 'function') ? undefined : `It must be ${made}.`;
  };
}

/** A log created by `createLog`. */
export const log = objectWith(['child', 'info', 'warn', 'error'], 'a log created by createLog()');

/** Describes the type, never the value, which may be a password. */
function kindOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'a list' : `a value of type ${typeof value}`;
}
