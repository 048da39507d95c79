// The types of the answers of all APIs by name, for code that reads them instead of their TypeScript types. Programs
// load them on demand, so that they start faster. Those of the lab are beside its functions.

import { LAB_ANSWERS } from '../lab/functions.ts';
import answers from './answers.json' with { type: 'json' };
import type { DataSchema } from './body-schemas.ts';

// TypeScript reads the file as one type for each answer.
export const ANSWER_SCHEMAS = { ...answers.$defs, ...LAB_ANSWERS } as unknown as Readonly<Record<string, DataSchema>>;
