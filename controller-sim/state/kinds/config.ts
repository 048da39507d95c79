// Configs of services and routers.

import type { Named } from '../entity.ts';
import { map, name, text } from '../fields.ts';
import { kind } from '../kind.ts';

export interface Config extends Named {
  readonly configTypeId: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export const config = kind<Config>()({
  plural: 'configs',
  store: 'configs',
  unique: ['name'],
  refers: [
    {
      key: 'configTypeId',
      to: 'configType',
      form: 'id',
      repair: 'delete',
      onDelete: { field: 'configs', by: 'configs' },
    },
  ],
  fields: {
    name,
    configTypeId: text,
    data: map,
  },
  isConfigured: true,
});
