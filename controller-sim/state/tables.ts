// Creates the tables, one for each kind of entity, with their indexes.

import { Table } from './table.ts';
import type { EntityKind, EntityTypes } from './types.ts';

export type Tables = { readonly [K in EntityKind]: Table<EntityTypes[K]> };

export function createTables(): Tables {
  return {
    apiSession: new Table({ unique: ['token'], references: ['identityId', 'authenticatorId'] }),
    apiSessionCertificate: new Table({ unique: ['fingerprint'], references: ['apiSessionId'] }),
    authenticator: new Table({ unique: ['username', 'fingerprint'], references: ['identityId'] }),
    authPolicy: new Table({
      unique: ['name'],
      derived: {
        signers: ({ primary, secondary }) => [
          ...primary.extJwt.allowedSigners,
          ...(secondary.requireExtJwtSigner === null ? [] : [secondary.requireExtJwtSigner]),
        ],
      },
    }),
    ca: new Table({ unique: ['name', 'fingerprint'] }),
    config: new Table({ unique: ['name'], references: ['configTypeId'] }),
    configType: new Table({ unique: ['name'] }),
    edgeRouterPolicy: new Table({ unique: ['name'], references: ['identityRoles', 'edgeRouterRoles'] }),
    enrollment: new Table({ unique: ['token'], references: ['identityId', 'routerId', 'caId'] }),
    externalJwtSigner: new Table({
      unique: ['name', 'issuer', 'kid', 'fingerprint'],
      references: ['enrollAuthPolicyId'],
    }),
    identity: new Table({
      unique: ['name', 'externalId'],
      references: ['authPolicyId'],
      derived: {
        overriddenServices: ({ serviceConfigs }) => Object.keys(serviceConfigs),
        configs: ({ serviceConfigs }) => Object.values(serviceConfigs).flat(),
      },
    }),
    mfa: new Table({ references: ['identityId'] }),
    postureCheck: new Table({ unique: ['name'] }),
    revocation: new Table({}),
    router: new Table({ unique: ['name', 'fingerprint'], references: ['configs'] }),
    service: new Table({ unique: ['name'], references: ['configs'] }),
    serviceEdgeRouterPolicy: new Table({ unique: ['name'], references: ['serviceRoles', 'edgeRouterRoles'] }),
    servicePolicy: new Table({
      unique: ['name'],
      references: ['identityRoles', 'serviceRoles', 'postureCheckRoles'],
    }),
    session: new Table({ unique: ['token'], references: ['apiSessionId', 'identityId', 'serviceId'] }),
    terminator: new Table({ references: ['serviceId', 'routerId'] }),
  };
}

const KINDS: ReadonlySet<string> = new Set(Object.keys(createTables()));

export function isEntityKind(kind: string): kind is EntityKind {
  return KINDS.has(kind);
}
