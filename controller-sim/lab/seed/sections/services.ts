// Services of the edge APIs.

import { createService, deleteService, updateService } from '../../../entities/service.ts';
import { all, filled, type Section } from '../section.ts';

export const services: Section<'service'> = {
  kind: 'service',
  bodyType: 'serviceCreate',
  body: (entry, refer) => ({ ...entry, configs: all('config', entry.configs, ['configs'], refer) }),
  create: createService,
  update: updateService,
  remove: deleteService,
  isExported: ({ isFabricOnly }) => !isFabricOnly,
  entry: (service, names) => ({
    configs: names.all('config', service.configs),
    encryptionRequired: service.encryptionRequired,
    ...filled({ maxIdleTimeMillis: service.maxIdleTimeMillis }),
    roleAttributes: service.roleAttributes,
    terminatorStrategy: service.terminatorStrategy,
  }),
};
