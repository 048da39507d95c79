// A configuration that has passed all checks, as the router works with it: deeply frozen.

import type { RouterConfigValues } from '#schemas/config/gen/router-config.ts';

export type * from '#schemas/config/gen/router-config.ts';

export interface RouterConfig extends RouterConfigValues {
  /** Path of the file it was read from. */
  readonly file: string;
  /** The values of the file as a tree of the same form, with the environment filled in and without secrets. */
  readonly written: Readonly<Record<string, unknown>>;
}
