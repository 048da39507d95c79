// The paths of requests in faults and in filters of the journal: a prefix, or a pattern for the whole path.

import { didYouMean } from '#lib/text/suggestion.ts';
import { BASES } from '#schemas/api/bases.ts';
import { readOperations } from '#schemas/api/operations.ts';
import { isParameter } from '#schemas/api/path-template.ts';
import { InvalidError } from './lab-error.ts';

/** Paths of other pages begin with one of these. */
const OTHER_ROOTS = ['/oidc/', '/health-checks', '/livez', '/readyz', '/metrics', '/zac/', '/assets/'];

/** Characters of a prefix or a pattern, as of the other texts of a fault. */
export const MAX_PATH_LENGTH = 1_000;

let paths: readonly (readonly string[])[] | undefined;

/** A prefix; or a pattern for the whole path, whose `*` stands for any characters. */
export function matchesPath(pattern: string, path: string): boolean {
  if (!pattern.includes('*')) return path.startsWith(pattern);
  const [first = '', ...others] = pattern.split('*');
  const last = others.pop() ?? '';
  if (!path.startsWith(first) || !path.endsWith(last)) return false;
  let from = first.length;
  for (const part of others) {
    const at = path.indexOf(part, from);
    if (at < 0) return false;
    from = at + part.length;
  }
  return from <= path.length - last.length;
}

/**
 * Checks the path of a fault, or of an expectation: a misspelled one would match nothing, and a check that nothing was
 * asked would pass. Looks at the text before the first `*` and after the last one.
 * @throws InvalidError if no request that a client can make has such a path
 */
export function requirePath(pattern: string): void {
  if (pattern.length > MAX_PATH_LENGTH) throw new InvalidError('path', `use at most ${MAX_PATH_LENGTH} characters`, '');
  if (!/^[/*]/.test(pattern)) throw new InvalidError('path', 'begin with / or *', pattern);
  const [head = '', ...others] = pattern.split('*');
  if (OTHER_ROOTS.some((root) => head.startsWith(root) || root.startsWith(head))) return;
  const [first, last] = [head.split('/'), (others.at(-1) ?? '').split('/')];
  if (knownPaths().some((path) => mayBegin(path, first) && mayEnd(path, last))) return;
  const known = new Set(knownPaths().map((path) => path.join('/')));
  const meant = didYouMean(pattern, known) || 'see `operations` for the paths';
  throw new InvalidError('path', `no operation has the path ${pattern}; ${meant}`, pattern);
}

/** The segments of each path. Requests to the lab itself are neither in the journal nor affected by faults. */
function knownPaths(): readonly (readonly string[])[] {
  paths ??= readOperations()
    .filter(({ api }) => api !== 'lab')
    .flatMap(({ api, path }) => BASES[api].map((base) => `${base}${path}`.split('/')));
  return paths;
}

function mayBegin(path: readonly string[], segments: readonly string[]): boolean {
  const last = segments.length - 1;
  if (segments.length > path.length) return false;
  return segments.every((segment, index) => {
    const own = path[index] ?? '';
    return isParameter(own) || (index === last ? own.startsWith(segment) : own === segment);
  });
}

function mayEnd(path: readonly string[], segments: readonly string[]): boolean {
  if (segments.length > path.length) return false;
  const own = path.slice(-segments.length);
  return segments.every((segment, index) => {
    const other = own[index] ?? '';
    return isParameter(other) || (index === 0 ? other.endsWith(segment) : other === segment);
  });
}
