// Services of the network.

import type { Named } from '../entity.ts';
import { count, flag, name, text, texts } from '../fields.ts';
import { kind } from '../kind.ts';

export interface Service extends Named {
  readonly encryptionRequired: boolean;
  readonly terminatorStrategy: string;
  readonly maxIdleTimeMillis: number;
  readonly configs: readonly string[];
  readonly roleAttributes: readonly string[];
  /** Created through the fabric API: the edge APIs and their policies ignore it. */
  readonly isFabricOnly: boolean;
}

export const service = kind<Service>()({
  plural: 'services',
  store: 'services',
  unique: ['name'],
  refers: [{ key: 'configs', to: 'config', form: 'ids', repair: 'remove', onDelete: 'remove' }],
  hasRoleAttributes: true,
  isSelectable: ({ isFabricOnly }) => !isFabricOnly,
  lists: ['configs', 'service-edge-router-policies', 'service-policies', 'terminators'],
  isReferredWithLists: true,
  fields: {
    name,
    encryptionRequired: flag,
    terminatorStrategy: text,
    maxIdleTimeMillis: count,
    configs: texts,
    roleAttributes: texts,
    isFabricOnly: flag,
  },
  isConfigured: true,
});
