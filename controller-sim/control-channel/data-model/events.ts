// Converts entities to events of the router data model (reference fact: control channel, section 5.5). Pure functions.

import type { X509Certificate } from 'node:crypto';
import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { ProcessDemand, TypedDemands } from '#model/posture.ts';
import { sha1Fingerprint } from '#pki/certificates.ts';
import {
  DataState_Action,
  type DataState_Event,
  DataState_EventSchema,
  type DataState_PostureCheckSchema,
  DataState_PublicKey_Format,
  DataState_PublicKey_Usage,
  PolicyType,
  ServicePolicyRelatedEntityType,
  TerminatorPrecedence,
} from '#wire/gen/edge_control_pb.js';
import type { Entity, Precedence } from '../../state/entity.ts';
import type { Config } from '../../state/kinds/config.ts';
import type { ConfigType } from '../../state/kinds/config-type.ts';
import type { Identity } from '../../state/kinds/identity.ts';
import type { PostureCheck } from '../../state/kinds/posture-check.ts';
import type { Revocation } from '../../state/kinds/revocation.ts';
import type { Router } from '../../state/kinds/router.ts';
import type { Service } from '../../state/kinds/service.ts';
import type { ServicePolicy } from '../../state/kinds/service-policy.ts';
import type { EntityKind } from '../../state/kinds.ts';
import type { Tables } from '../../state/tables.ts';

type Model = NonNullable<MessageInitShape<typeof DataState_EventSchema>['model']>;

const PRECEDENCE: Readonly<Record<Precedence, TerminatorPrecedence>> = {
  default: TerminatorPrecedence.DEFAULT,
  required: TerminatorPrecedence.REQUIRED,
  failed: TerminatorPrecedence.FAILED,
};

export function event(action: DataState_Action, model: Model): DataState_Event {
  return create(DataState_EventSchema, { action, model });
}

/** The model of an entity; undefined for kinds that routers do not receive, and for services of the fabric alone. */
export function modelOf(kind: EntityKind, entity: Entity, tables: Tables): Model | undefined {
  switch (kind) {
    case 'configType':
      return configType(entity as ConfigType);
    case 'config':
      return config(entity as Config);
    case 'identity':
      return identity(entity as Identity, tables);
    case 'service':
      return (entity as Service).isFabricOnly ? undefined : service(entity as Service);
    case 'router':
      return router(entity as Router);
    case 'servicePolicy':
      return servicePolicy(entity as ServicePolicy);
    case 'postureCheck':
      return postureCheck(entity as PostureCheck);
    case 'revocation':
      return revocation(entity as Revocation);
    default:
      return undefined;
  }
}

/** Policy members that were added or removed. Undefined if there are none. */
export function policyChange(
  policyId: string,
  type: ServicePolicyRelatedEntityType,
  ids: Iterable<string>,
  add: boolean,
): DataState_Event | undefined {
  const relatedEntityIds = [...ids];
  if (relatedEntityIds.length === 0) return undefined;
  const value = { policyId, relatedEntityIds, relatedEntityType: type, add };
  return create(DataState_EventSchema, {
    action: DataState_Action.CREATE,
    model: { case: 'servicePolicyChange', value },
  });
}

/** A certificate that verifies tokens, client certificates, or both. */
export function publicKey(
  certificate: X509Certificate,
  usages: readonly DataState_PublicKey_Usage[],
  action = DataState_Action.CREATE,
): DataState_Event {
  return create(DataState_EventSchema, {
    action,
    isSynthetic: true,
    model: {
      case: 'publicKey',
      value: {
        data: certificate.raw,
        kid: sha1Fingerprint(certificate),
        usages: [...usages],
        format: DataState_PublicKey_Format.X509_CERT_DER,
      },
    },
  });
}

export const RelatedType = ServicePolicyRelatedEntityType;
export const KeyUsage = DataState_PublicKey_Usage;

function configType({ id, name, target }: ConfigType): Model {
  return { case: 'configType', value: { id, name, target } };
}

function config({ id, name, configTypeId, data }: Config): Model {
  return {
    case: 'config',
    value: { id, name, typeId: configTypeId, dataJson: JSON.stringify(data) },
  };
}

function identity(entity: Identity, tables: Tables): Model {
  const { id, name, disabled, defaultHostingCost, serviceHostingCosts } = entity;
  const precedences = Object.entries(entity.serviceHostingPrecedences).map(([key, value]) => [key, PRECEDENCE[value]]);
  const overrides = Object.entries(entity.serviceConfigs).map(([serviceId, configIds]) => {
    const configs = configIds.map((configId) => [tables.config.get(configId)?.configTypeId ?? '', configId]);
    return [serviceId, { configs: Object.fromEntries(configs) }];
  });
  return {
    case: 'identity',
    value: {
      id,
      name,
      disabled,
      defaultHostingCost,
      defaultHostingPrecedence: PRECEDENCE[entity.defaultHostingPrecedence],
      serviceHostingCosts: { ...serviceHostingCosts },
      serviceHostingPrecedences: Object.fromEntries(precedences),
      serviceConfigs: Object.fromEntries(overrides),
      ...(Object.keys(entity.appData).length > 0 && { appDataJson: Buffer.from(JSON.stringify(entity.appData)) }),
    },
  };
}

function service({ id, name, encryptionRequired, configs }: Service): Model {
  return { case: 'service', value: { id, name, encryptionRequired, configs: [...configs] } };
}

function router({ id, name, fingerprint, configs, disabled }: Router): Model {
  return {
    case: 'router',
    value: { id, name, fingerprint: fingerprint ?? '', configs: [...configs], disabled },
  };
}

function servicePolicy({ id, name, type }: ServicePolicy): Model {
  const policyType = type === 'Dial' ? PolicyType.DIAL_POLICY : PolicyType.BIND_POLICY;
  return { case: 'servicePolicy', value: { id, name, policyType } };
}

function postureCheck(check: PostureCheck): Model {
  const { id, name, typeId } = check;
  return { case: 'postureCheck', value: { id, name, typeId, subtype: subtypeOf(check) } };
}

type Subtype = NonNullable<MessageInitShape<typeof DataState_PostureCheckSchema>['subtype']>;

/** The demands of a check with the data model's names. */
function subtypeOf({ typeId, demands }: TypedDemands): Subtype {
  switch (typeId) {
    case 'OS': {
      const systems = demands.operatingSystems;
      const osList = systems.map(({ type, versions }) => ({ osType: type, osVersions: [...versions] }));
      return { case: 'osList', value: { osList } };
    }
    case 'MAC':
      return { case: 'mac', value: { macAddresses: [...demands.macAddresses] } };
    case 'DOMAIN':
      return { case: 'domains', value: { domains: [...demands.domains] } };
    case 'MFA':
      return { case: 'mfa', value: { ...demands, timeoutSeconds: BigInt(demands.timeoutSeconds) } };
    case 'PROCESS':
      return { case: 'process', value: processOf(demands.process) };
    case 'PROCESS_MULTI':
      return {
        case: 'processMulti',
        value: { semantic: demands.semantic, processes: demands.processes.map(processOf) },
      };
  }
}

function processOf({ osType, path, hashes, signerFingerprint, signerFingerprints }: ProcessDemand) {
  const fingerprints = [...(signerFingerprints ?? []), ...(signerFingerprint ? [signerFingerprint] : [])];
  return { osType, path, hashes: [...hashes], fingerprints };
}

function revocation({ id, type, createdAt, expiresAt }: Revocation): Model {
  const issuedBefore = timestampFromMs(Date.parse(createdAt));
  return { case: 'revocation', value: { id, type, issuedBefore, expiresAt: timestampFromMs(Date.parse(expiresAt)) } };
}
