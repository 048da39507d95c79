// Config types, and the configs that follow their schemas.

import {
  createConfig,
  createConfigType,
  deleteConfig,
  deleteConfigType,
  updateConfig,
  updateConfigType,
} from '../../entities/config.ts';
import { field } from '../list.ts';
import { base, reference } from '../references.ts';
import type { Resource } from '../resource.ts';

export const configTypes: Resource<'configType'> = {
  kind: 'configType',
  names: { one: 'ConfigType', many: 'ConfigTypes' },
  symbols: {
    name: field('name'),
    schema: { get: ({ schema }) => schema && JSON.stringify(schema) },
    target: field('target'),
  },
  fixed: ['target'],
  create: createConfigType,
  update: updateConfigType,
  remove: deleteConfigType,
  show: (type) => ({ ...base('configType', type), name: type.name, schema: type.schema, target: type.target }),
};

export const configs: Resource<'config'> = {
  kind: 'config',
  names: { one: 'Config', many: 'Configs' },
  symbols: { name: field('name'), type: field('configTypeId') },
  create: createConfig,
  update: updateConfig,
  remove: deleteConfig,
  show: (config, { state }) => ({
    ...base('config', config),
    name: config.name,
    configTypeId: config.configTypeId,
    configType: reference('configType', state.tables.configType.get(config.configTypeId)),
    data: config.data,
  }),
};
