// Config types, without those of every network.

import { builtInConfigTypes } from '../../../entities/built-in.ts';
import { createConfigType, updateConfigType } from '../../../entities/config.ts';
import type { Section } from '../section.ts';

const BUILT_IN = new Set(
  builtInConfigTypes((id) => ({ id, createdAt: '', updatedAt: '', tags: {}, isSystem: true })).map(({ id }) => id),
);

export const configTypes: Section<'configType'> = {
  kind: 'configType',
  bodyType: 'configTypeCreate',
  body: (entry) => ({ ...entry }),
  create: createConfigType,
  update: updateConfigType,
  isExported: ({ id }) => !BUILT_IN.has(id),
  entry: ({ schema, target }) => ({ schema, target }),
};
