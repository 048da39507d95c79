// The tables, one for each kind of entity, with what is indexed in each.

import { Table } from './table.ts';
import type { EntityKind, EntityTypes } from './types.ts';

export type Tables = { readonly [K in EntityKind]: Table<EntityTypes[K]> };

export function makeTables(): Tables {
  return {
    apiSession: new Table({ unique: ['token'], references: ['identityId', 'authenticatorId'] }),
    authenticator: new Table({ unique: ['username', 'fingerprint'], references: ['identityId'] }),
    authPolicy: new Table({ unique: ['name'] }),
    config: new Table({ unique: ['name'], references: ['configTypeId'] }),
    configType: new Table({ unique: ['name'] }),
    router: new Table({ unique: ['name', 'fingerprint'], references: ['configs'] }),
    edgeRouterPolicy: new Table({ unique: ['name'] }),
    enrollment: new Table({ unique: ['token'], references: ['identityId', 'edgeRouterId'] }),
    identity: new Table({ unique: ['name', 'externalId'], references: ['authPolicyId'] }),
    service: new Table({ unique: ['name'], references: ['configs'] }),
    serviceEdgeRouterPolicy: new Table({ unique: ['name'] }),
    servicePolicy: new Table({ unique: ['name'] }),
    session: new Table({ unique: ['token'], references: ['apiSessionId', 'identityId', 'serviceId'] }),
    terminator: new Table({ references: ['serviceId', 'routerId'] }),
  };
}
