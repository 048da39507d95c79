// YAML for people: characters that a terminal would obey are escaped, which only quoted strings permit.

import {
  type CreateNodeOptions,
  type DocumentOptions,
  type SchemaOptions,
  stringify,
  type ToStringOptions,
} from 'yaml';
import { inLines } from './shown-text.ts';

type Options = DocumentOptions & SchemaOptions & CreateNodeOptions & ToStringOptions;

/** The same value for every reader of YAML. */
export function yamlText(value: unknown, options: Options = {}): string {
  const text = stringify(value, options);
  if (inLines(text) === text) return text;
  return inLines(stringify(value, { ...options, defaultStringType: 'QUOTE_DOUBLE', defaultKeyType: 'QUOTE_DOUBLE' }));
}
