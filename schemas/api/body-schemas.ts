// The types of the bodies of all APIs by name, for code that reads them instead of their TypeScript types. Those of the
// lab are beside its functions.

import { LAB_BODIES } from '../lab/functions.ts';
import bodies from './bodies.json' with { type: 'json' };

/** A body has no schema with several types. */
export type JsonType = 'string' | 'integer' | 'number' | 'boolean' | 'array' | 'object';

export interface DataSchema {
  readonly $ref?: string;
  readonly type?: JsonType;
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, DataSchema>>;
  readonly items?: DataSchema;
}

// TypeScript reads the file as one type for each body.
export const BODY_SCHEMAS = { ...bodies.$defs, ...LAB_BODIES } as unknown as Readonly<Record<string, DataSchema>>;
