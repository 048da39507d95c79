// Types of configs, each with a JSON schema.

import type { Named } from '../entity.ts';
import { map, name, oneOf, orNull } from '../fields.ts';
import { kind } from '../kind.ts';

export interface ConfigType extends Named {
  readonly schema: Readonly<Record<string, unknown>> | null;
  readonly target: 'service' | 'router' | 'other';
}

export const configType = kind<ConfigType>()({
  plural: 'config-types',
  store: 'configTypes',
  unique: ['name'],
  fields: {
    name,
    schema: orNull(map),
    target: oneOf('service', 'router', 'other'),
  },
  isConfigured: true,
});
