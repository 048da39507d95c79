// Routers of the network, of the edge and in transit.

import type { Named, Tags } from '../entity.ts';
import {
  certificates,
  cost,
  count,
  flag,
  integer,
  listOf,
  map,
  mapOf,
  name,
  optional,
  orNull,
  shape,
  text,
  texts,
} from '../fields.ts';
import { kind } from '../kind.ts';

/** Every router of the network. Transit routers only carry circuits; SDKs and policies ignore them. */
export interface Router extends Named {
  readonly isEdge: boolean;
  /** Address to groups. */
  readonly ctrlChanListeners: Readonly<Record<string, readonly string[]>> | null;
  readonly cost: number;
  readonly noTraversal: boolean;
  readonly disabled: boolean;
  readonly configs: readonly string[];
  readonly isTunnelerEnabled: boolean;
  readonly roleAttributes: readonly string[];
  readonly appData: Tags;
  readonly fingerprint: string | null;
  readonly certPem: string | null;
  readonly isVerified: boolean;
  /** Renewed client certificate that the router has not yet confirmed, in PEM. */
  readonly unverifiedCertPem?: string | null;
  /** Bits of RouterCapability that it reported when it last connected; undefined before. */
  readonly capabilities?: readonly number[];
  /** As it last reported them. */
  readonly interfaces?: readonly NetworkInterface[];
}

/** A network interface of a router's machine. */
export interface NetworkInterface {
  readonly name: string;
  readonly hardwareAddress: string;
  readonly mtu: number;
  readonly index: number;
  /** Bits of InterfaceFlag. */
  readonly flags: number;
  /** In CIDR notation. */
  readonly addresses: readonly string[];
}

export const router = kind<Router>()({
  plural: 'edge-routers',
  store: 'routers',
  unique: ['name', 'fingerprint'],
  refers: [{ key: 'configs', to: 'config', form: 'ids', repair: 'remove', onDelete: 'remove' }],
  hasRoleAttributes: true,
  isSelectable: ({ isEdge }) => isEdge,
  lists: ['edge-router-policies'],
  isReferredWithLists: true,
  fields: {
    name,
    isEdge: flag,
    ctrlChanListeners: orNull(mapOf(texts)),
    cost,
    noTraversal: flag,
    disabled: flag,
    configs: texts,
    isTunnelerEnabled: flag,
    roleAttributes: texts,
    appData: map,
    fingerprint: orNull(text),
    certPem: orNull(certificates),
    isVerified: flag,
    unverifiedCertPem: optional(orNull(certificates)),
    capabilities: optional(listOf(count)),
    interfaces: optional(
      listOf(
        shape({ name: text, hardwareAddress: text, mtu: integer, index: integer, flags: integer, addresses: texts }),
      ),
    ),
  },
  proofs: { fingerprint: null, certPem: null, isVerified: false, unverifiedCertPem: null },
  isConfigured: true,
});
