// JSON pointers (RFC 6901): `/link/dialers/0`.

import { ownValue } from './own-value.ts';

/** The names in a pointer. */
export function pointerParts(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** Finds the value that a pointer names in `from`. Returns undefined if `from` lacks it. */
export function valueAt(from: unknown, pointer: string): unknown {
  return pointerParts(pointer).reduce(
    (value, part) =>
      typeof value === 'object' && value !== null ? ownValue(value as Record<string, unknown>, part) : undefined,
    from,
  );
}
