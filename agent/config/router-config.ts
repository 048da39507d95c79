// A configuration that passed all checks, as the router uses it: deeply frozen.

import type { RouterConfigValues } from '#schemas/config/gen/router-config.ts';

export type * from '#schemas/config/gen/router-config.ts';

export interface RouterConfig extends RouterConfigValues {
  /** Path of the source file. */
  readonly file: string;
  /** The values of the file as a tree, after environment substitution and without secrets. */
  readonly written: Readonly<Record<string, unknown>>;
}
