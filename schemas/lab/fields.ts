// The fields of a request to a function of the lab: those of its path, its query and its body.

import { BODY_SCHEMAS, type DataSchema } from '../api/body-schemas.ts';
import { parametersOf } from '../api/path-template.ts';
import type { LabFunction } from './function.ts';

/** By name. */
export function requestFields({ route, query = {}, body = '' }: LabFunction): Readonly<Record<string, DataSchema>> {
  return {
    ...Object.fromEntries(parametersOf(route).map((name) => [name, { type: 'string' }])),
    ...Object.fromEntries(Object.entries(query).map(([name, type]) => [name, { type }])),
    ...BODY_SCHEMAS[body.replace('?', '')]?.properties,
  };
}
