// Rules of config types and configs: the data of a config must match the schema of its type.

import { isMap } from '#lib/json/is-map.ts';
import type {
  ConfigCreate,
  ConfigPatch,
  ConfigTypeCreate,
  ConfigTypePatch,
  ConfigTypeUpdate,
  ConfigUpdate,
} from '#schemas/api/gen/bodies.ts';
import { type ApiError, invalid } from '../errors/errors.ts';
import type { Config } from '../state/kinds/config.ts';
import type { ConfigType } from '../state/kinds/config-type.ts';
import type { Transaction } from '../state/transaction.ts';
import type { Body } from './body.ts';
import { baseFields, changedBase, uniqueName } from './common.ts';
import { rules } from './rules.ts';
import type { Violation } from './schema-check.ts';
import { firstError, requireSchema } from './schema-validator.ts';

export type ConfigBody = ConfigCreate | ConfigUpdate | ConfigPatch;
export type ConfigTypeBody = ConfigTypeCreate | ConfigTypeUpdate | ConfigTypePatch;

export function createConfigType(transaction: Transaction, id: string, body: Body<ConfigTypeBody>): ConfigType {
  const configType: ConfigType = {
    ...baseFields(transaction, id, body),
    ...configTypeFields(transaction, body, undefined),
    target: body.given.target ?? 'service',
  };
  transaction.put('configType', configType);
  return configType;
}

/** The target is immutable. Existing configs are not validated against a new schema. */
export function updateConfigType(transaction: Transaction, configType: ConfigType, body: Body<ConfigTypeBody>): void {
  transaction.put('configType', {
    ...configType,
    ...configTypeFields(transaction, body, configType),
    ...changedBase(transaction, configType, body),
  });
}

export function createConfig(transaction: Transaction, id: string, body: Body<ConfigBody>): Config {
  const configTypeId = body.given.configTypeId ?? '';
  const type = transaction.get('configType', configTypeId);
  if (!type) throw invalid('type', 'invalid config type', configTypeId);
  const data = configData(body, type, undefined); // reference fact: checked before the name
  const name = uniqueName(transaction, 'config', body);
  const config: Config = { ...baseFields(transaction, id, body), name, configTypeId, data };
  transaction.put('config', config);
  return config;
}

export function updateConfig(transaction: Transaction, config: Config, body: Body<ConfigBody>): void {
  const type = transaction.get('configType', config.configTypeId);
  const data = configData(body, type, config);
  const name = uniqueName(transaction, 'config', body, config);
  transaction.put('config', { ...config, ...changedBase(transaction, config, body), name, data });
}

export const configTypeRules = rules('configType', { create: createConfigType, update: updateConfigType });
export const configRules = rules('config', { create: createConfig, update: updateConfig });

function configTypeFields(transaction: Transaction, body: Body<ConfigTypeBody>, current: ConfigType | undefined) {
  const name = uniqueName(transaction, 'configType', body, current);
  if (name === 'all') throw invalid('name', 'all is a keyword and may not be used as a config type name', name);
  const given = mapOr('schema', body.given.schema) ?? body.kept(current)?.schema ?? null;
  // reference fact: an empty schema counts as missing.
  const schema = given && Object.keys(given).length > 0 ? given : null;
  if (schema) requireSchema(schema);
  if (schema && schema.type !== 'object')
    throw invalid('schema', 'invalid config type schema, root type must be object', schema);
  return { name, schema };
}

function configData(body: Body<ConfigBody>, type: ConfigType | undefined, current: Config | undefined): Config['data'] {
  const given = mapOr('data', body.given.data);
  if (body.mode !== 'patch' && !given) throw invalid('data', 'data in body is required', undefined);
  const data = given ?? current?.data ?? {};
  const error = type?.schema ? firstError(type.schema, data) : undefined;
  if (error) throw worded(error, data);
  return data;
}

/** The schemas accept any value here: the reference rejects others than maps later. Undefined for a missing value. */
function mapOr(field: string, value: unknown): Config['data'] | undefined {
  if (value === undefined || value === null) return undefined;
  if (!isMap(value)) throw invalid(field, 'invalid type, expected object', value);
  return { ...value };
}

/** One error with the reference's text (reference fact: HTTP entities, section 8). */
function worded(error: Violation, data: unknown): ApiError {
  const path = error.instancePath.split('/').slice(1).join('.') || '(root)';
  const say = (text: string, value: unknown) => invalid(path, `${path} is invalid: ${path}: ${text}`, value);
  switch (error.keyword) {
    case 'type':
      return say(`Invalid type. Expected: ${String(error.params.type)}, given: ${typeName(error.data)}`, error.data);
    case 'required':
      return say(`${String(error.params.missingProperty)} is required`, data);
    case 'additionalProperties':
      return say(
        `Additional property ${String(error.params.additionalProperty)} is not allowed`,
        (error.data as Config['data'])[String(error.params.additionalProperty)],
      );
    case 'if':
      return say(
        `Must validate "${String(error.params.failingKeyword)}" as "if" was ${error.params.failingKeyword === 'then' ? 'valid' : 'not valid'}`,
        data,
      );
    case 'minimum':
      return say(`Must be greater than or equal to ${String(error.params.limit)}`, error.data);
    case 'maximum':
      return say(`Must be less than or equal to ${String(error.params.limit)}`, error.data);
    default:
      return say(error.message ?? '', error.data);
  }
}

function typeName(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value === 'number' && Number.isInteger(value) ? 'integer' : typeof value;
}
