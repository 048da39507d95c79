// The controllers of the network as the APIs show them: of a simulator there is one, itself.

import { sha1Fingerprint } from '#lib/certificates.ts';
import type { ApiServices } from '../request/context.ts';

/** What the reference sends for a time that is not kept. */
const NEVER = '0001-01-01T00:00:00.000Z';

export function showControllers({ authority, baseUrl, controllerId: id }: ApiServices): Record<string, unknown>[] {
  const certificate = authority.serverCertificate;
  return [
    {
      _links: { self: { href: `./controllers/${id}` } },
      createdAt: NEVER,
      updatedAt: NEVER,
      id,
      name: id,
      tags: {},
      apiAddresses: { 'edge-client': [{ url: `${baseUrl}/edge/client/v1`, version: 'v1' }] },
      certPem: certificate.toString(),
      fingerprint: sha1Fingerprint(certificate),
      isOnline: true,
      lastJoinedAt: null,
    },
  ];
}
