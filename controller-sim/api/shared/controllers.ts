// The controllers of the network as clients and administrators see them: of a simulator there is one, itself.

import { sha1Fingerprint } from '#lib/certificates.ts';
import type { ApiServices } from '../../request/context.ts';
import { NEVER } from '../show.ts';

export interface Controller {
  readonly _links: Readonly<Record<string, unknown>>;
  readonly id: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly tags: Readonly<Record<string, unknown>>;
  readonly name: string;
  readonly ctrlAddress?: string;
  readonly apiAddresses: Readonly<Record<string, readonly { readonly url: string; readonly version: string }[]>>;
  readonly certPem: string;
  readonly fingerprint: string;
  readonly isOnline: boolean;
  readonly lastJoinedAt: string | null;
}

export function showControllers({ authority, baseUrl, controllerId: id }: ApiServices): Controller[] {
  const certificate = authority.serverCertificate;
  return [
    {
      _links: { self: { href: `./controllers/${id}` } },
      createdAt: NEVER,
      updatedAt: NEVER,
      id,
      name: id,
      tags: {},
      apiAddresses: {
        'edge-client': [{ url: `${baseUrl}/edge/client/v1`, version: 'v1' }],
        'edge-oidc': [{ url: `${baseUrl}/oidc`, version: 'v1' }],
      },
      certPem: certificate.toString(),
      fingerprint: sha1Fingerprint(certificate),
      isOnline: true,
      lastJoinedAt: null,
    },
  ];
}
