// Generated from router.schema.json by `npm run generate`. Do not edit.

import type { ValidateFunction } from 'ajv';

export declare function makeValidator(
  schema: object,
  formats: Readonly<Record<string, (text: string) => boolean>>,
): ValidateFunction;
