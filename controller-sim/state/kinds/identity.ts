// Identities: clients, routers with a tunneler, administrators.

import type { Named, Precedence, Tags } from '../entity.ts';
import { cost, flag, map, mapOf, name, oneOf, orNull, precedence, text, texts, time } from '../fields.ts';
import { kind } from '../kind.ts';

export interface Identity extends Named {
  readonly type: 'Default' | 'Router';
  readonly isAdmin: boolean;
  readonly isDefaultAdmin: boolean;
  readonly externalId: string | null;
  readonly authPolicyId: string;
  readonly roleAttributes: readonly string[];
  readonly permissions: readonly string[] | null;
  readonly defaultHostingCost: number;
  readonly defaultHostingPrecedence: Precedence;
  readonly serviceHostingCosts: Readonly<Record<string, number>>;
  readonly serviceHostingPrecedences: Readonly<Record<string, Precedence>>;
  readonly appData: Tags;
  /** Service id to config ids, one per type. */
  readonly serviceConfigs: Readonly<Record<string, readonly string[]>>;
  readonly disabled: boolean;
  readonly disabledAt: string | null;
  readonly disabledUntil: string | null;
  /** The client's description of itself at the last login. */
  readonly envInfo: Readonly<Record<string, string>>;
  readonly sdkInfo: Readonly<Record<string, string>>;
}

export const identity = kind<Identity>()({
  plural: 'identities',
  store: 'identities',
  unique: ['name', 'externalId'],
  derived: {
    overriddenServices: ({ serviceConfigs }) => Object.keys(serviceConfigs),
    configs: ({ serviceConfigs }) => Object.values(serviceConfigs).flat(),
  },
  refers: [
    {
      key: 'authPolicyId',
      to: 'authPolicy',
      form: 'id',
      repair: { put: 'default' },
      onDelete: { field: 'authPolicyId', by: 'identity' },
    },
    {
      key: 'serviceConfigs',
      index: 'overriddenServices',
      to: 'service',
      form: 'map',
      repair: 'remove',
      onDelete: 'remove',
    },
    {
      key: 'serviceConfigs',
      index: 'configs',
      to: 'config',
      form: 'lists',
      repair: 'remove',
      onDelete: { field: 'serviceConfigs', by: 'serviceConfigs' },
    },
    // reference fact: they stay, and prevent the deletion of some identities (see `requireRemovable` of its rules).
    { key: 'serviceHostingCosts', to: 'service', form: 'map', repair: 'remove', onDelete: 'keep' },
    { key: 'serviceHostingPrecedences', to: 'service', form: 'map', repair: 'remove', onDelete: 'keep' },
  ],
  hasRoleAttributes: true,
  lists: [
    'authenticators',
    'edge-router-policies',
    'edge-routers',
    'enrollments',
    'failed-service-requests',
    'posture-data',
    'service-configs',
    'service-policies',
    'services',
  ],
  isReferredWithLists: true,
  proofs: { externalId: null },
  fields: {
    name,
    type: oneOf('Default', 'Router'),
    isAdmin: flag,
    isDefaultAdmin: flag,
    externalId: orNull(text),
    authPolicyId: text,
    roleAttributes: texts,
    permissions: orNull(texts),
    defaultHostingCost: cost,
    defaultHostingPrecedence: precedence,
    serviceHostingCosts: mapOf(cost),
    serviceHostingPrecedences: mapOf(precedence),
    appData: map,
    serviceConfigs: mapOf(texts),
    disabled: flag,
    disabledAt: orNull(time),
    disabledUntil: orNull(time),
    envInfo: mapOf(text),
    sdkInfo: mapOf(text),
  },
  isConfigured: true,
});
