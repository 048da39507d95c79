// Options that a program gives to a function of the package. TypeScript finds most mistakes before; JavaScript, `any` and values from files and the
// environment come here. The command lines use the same checks, so that both refuse the same values in the same words.

import { isIP } from 'node:net';
import { hostProblem } from './address.ts';
import { ProjectError } from './errors.ts';
import { didYouMean } from './suggestion.ts';

/** Says in one sentence what is wrong with a value and what to give instead; undefined for a good one. */
export type OptionCheck = (value: unknown) => string | undefined;

/** An unknown option, or a value that it cannot have. Nothing has been started. */
export class OptionError extends ProjectError {
  constructor(message: string) {
    super('BAD_OPTION', message);
  }
}

/** Throws OptionError for the first option that is unknown or wrong. Options that are undefined count as left out. */
export function checkOptions(caller: string, options: unknown, checks: Readonly<Record<string, OptionCheck>>): void {
  if (typeof options !== 'object' || options === null || Array.isArray(options))
    throw new OptionError(`${caller}: the options must be an object such as {}, not ${kindOf(options)}`);
  const names = Object.keys(checks);
  for (const [name, value] of Object.entries(options)) {
    const check = Object.hasOwn(checks, name) ? checks[name] : undefined;
    if (!check) {
      const remedy = didYouMean(name, names) || `there are ${names.join(', ')}`;
      throw new OptionError(`${caller}: there is no option ${name}; ${remedy}`);
    }
    const problem = value === undefined ? undefined : check(value);
    if (problem !== undefined) throw new OptionError(`${caller}: the option ${name} is invalid. ${problem}`);
  }
}

/** A text with at least one character that is not a space. */
export const notEmpty: OptionCheck = (value) => {
  if (typeof value !== 'string') return `It must be a text, not ${kindOf(value)}.`;
  return value.trim() === '' ? 'It must not be empty.' : undefined;
};

/** The path of a file or folder. */
export const path: OptionCheck = (value) =>
  notEmpty(value) ?? (String(value).includes('\0') ? 'A path has no NUL characters.' : undefined);

/** A host that others reach a program by: no port, no zone of an IPv6 address. `example` is shown where nothing better can be guessed. */
export function hostForOthers(example: string): OptionCheck {
  return (value) => {
    const text = typeof value === 'string' ? value : '';
    if (hostProblem(text) === undefined && !text.includes('%')) return undefined;
    const bare = text.replace(/^\[(.*)\](:\d+)?$|:\d+$/, '$1');
    const meant = hostProblem(bare) === undefined && isIP(text) === 0 ? bare : example;
    return `Give a host name or an IP address without a port, such as ${meant}.`;
  };
}

export const flag: OptionCheck = (value) =>
  typeof value === 'boolean' ? undefined : `It must be true or false, not ${kindOf(value)}.`;

export function textOfLength(least: number, most: number): OptionCheck {
  return (value) => {
    if (typeof value !== 'string') return `It must be a text, not ${kindOf(value)}.`;
    const { length } = value;
    return length >= least && length <= most
      ? undefined
      : `It must have ${least} to ${most} characters, not ${length}.`;
  };
}

export function wholeNumber(least: number, most: number): OptionCheck {
  return (value) =>
    Number.isInteger(value) && (value as number) >= least && (value as number) <= most
      ? undefined
      : `It must be a whole number from ${least} to ${most}.`;
}

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

/** An object with these functions; `made` says where such objects come from. */
export function objectWith(functions: readonly string[], made: string): OptionCheck {
  return (value) => {
    const object = typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
    return object && functions.every((name) => typeof object[name] === 'function') ? undefined : `It must be ${made}.`;
  };
}

/** A log made by `createLog`. */
export const log = objectWith(['child', 'info', 'warn', 'error'], 'a log as createLog() makes it');

/** Never the value: it may be a password. */
function kindOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'a list' : `a value of type ${typeof value}`;
}
