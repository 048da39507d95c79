// Config types, and configs, whose data follows the schemas of their types.

import type { ConfigDetail, ConfigTypeDetail } from '#schemas/api/gen/answers.ts';
import { type ConfigBody, type ConfigTypeBody, configRules, configTypeRules } from '../../entities/config.ts';
import { loadSchemaValidator } from '../../entities/schema-validator.ts';
import type { Symbols } from '../../filter/compile.ts';
import type { Config } from '../../state/kinds/config.ts';
import type { ConfigType } from '../../state/kinds/config-type.ts';
import { base, reference } from '../answers/references.ts';
import type { Handlers } from '../operations/context.ts';
import { field } from '../operations/list.ts';
import { create, detail, list, patch, type Resource, remove, update } from '../operations/resource.ts';

const CONFIG_TYPE_SYMBOLS: Symbols<ConfigType> = {
  name: field('name'),
  schema: { get: ({ schema }) => schema && JSON.stringify(schema) },
  target: field('target'),
};

export const CONFIG_SYMBOLS: Symbols<Config> = { name: field('name'), type: field('configTypeId') };

/** The validator is loaded before the transaction, which does not wait. */
const withValidator = () => loadSchemaValidator().then(() => undefined);

export const configTypes: Resource<'configType', ConfigTypeDetail, ConfigTypeBody, never> = {
  ...configTypeRules,
  symbols: CONFIG_TYPE_SYMBOLS,
  prepare: withValidator,
  show: (type): ConfigTypeDetail => ({
    ...base('configType', type),
    name: type.name,
    schema: type.schema,
    target: type.target,
  }),
};

export const configs: Resource<'config', ConfigDetail, ConfigBody, 'state'> = {
  ...configRules,
  symbols: CONFIG_SYMBOLS,
  prepare: withValidator,
  show: (config, { state }): ConfigDetail => ({
    ...base('config', config),
    name: config.name,
    configTypeId: config.configTypeId,
    configType: reference('configType', state.tables.configType.get(config.configTypeId)),
    data: config.data,
  }),
};

export const configHandlers = {
  listConfigTypes: list(configTypes),
  createConfigType: create(configTypes),
  detailConfigType: detail(configTypes),
  updateConfigType: update(configTypes),
  patchConfigType: patch(configTypes),
  deleteConfigType: remove(configTypes),
  listConfigs: list(configs),
  createConfig: create(configs),
  detailConfig: detail(configs),
  updateConfig: update(configs),
  patchConfig: patch(configs),
  deleteConfig: remove(configs),
} satisfies Partial<Handlers<'management'>>;
