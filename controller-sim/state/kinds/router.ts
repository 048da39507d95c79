// Routers of the network, of the edge and in transit.

import type { Named, Tags } from '../entity.ts';
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
  refers: [{ key: 'configs', to: 'config', form: 'ids', mend: 'remove', onDelete: 'remove' }],
  hasRoleAttributes: true,
  isSelectable: ({ isEdge }) => isEdge,
  lists: ['edge-router-policies'],
  isReferredWithLists: true,
  isConfigured: true,
});
