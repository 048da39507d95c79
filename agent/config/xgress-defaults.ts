// The options of circuit ends whose binding has no entry in the configuration: the defaults of the schema.

import { defaultsOf } from './resolve.ts';
import type { XgressConfig } from './router-config.ts';
import { ROUTER_SCHEMA } from './router-schema.ts';

let options: XgressConfig | undefined;

export function defaultXgressOptions(): XgressConfig {
  options ??= Object.freeze(
    defaultsOf(ROUTER_SCHEMA, ROUTER_SCHEMA.properties?.dialers?.items?.properties?.options ?? {}),
  ) as XgressConfig;
  return options;
}
