// Configs of services and routers.

import { createConfig, updateConfig } from '../../../entities/config.ts';
import type { Section } from '../section.ts';

export const configs: Section<'config'> = {
  kind: 'config',
  bodyType: 'configCreate',
  body: ({ configType, ...entry }, refer) => ({
    ...entry,
    configTypeId: refer('configType', configType, ['configType']),
  }),
  create: createConfig,
  update: updateConfig,
  fixed: ['configType'],
  entry: ({ configTypeId, data }, names) => ({ configType: names.one('configType', configTypeId), data }),
};
