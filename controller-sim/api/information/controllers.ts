// The controllers of the network, for clients and administrators.

import { X509Certificate } from 'node:crypto';
import { sha1Fingerprint } from '#pki/certificates.ts';
import type { ControllerDetail } from '#schemas/api/gen/answers.ts';
import type { Member } from '../../state/store/shared-store.ts';
import type { ApiRequest } from '../operations/context.ts';

/**
 * Clients do not see its address for routers, or the addresses of its administration (reference fact: HTTP entities,
 * section 16).
 */
export function showController(member: Member, { operation }: ApiRequest<never>): ControllerDetail {
  const { id, baseUrl, controlAddress, certPem, isConnected, joinedAt } = member;
  const isClient = operation.api === 'client';
  const at = (path: string) => [{ url: `${baseUrl}${path}`, version: 'v1' }];
  const certificate = new X509Certificate(certPem);
  const since = certificate.validFromDate.toISOString();
  return {
    _links: { self: { href: `./controllers/${id}` } },
    createdAt: since,
    updatedAt: since,
    id,
    name: id,
    tags: {},
    apiAddresses: {
      'edge-client': at('/edge/client/v1'),
      'edge-oidc': at('/oidc'),
      ...(!isClient && {
        'edge-management': at('/edge/management/v1'),
        fabric: at('/fabric/v1'),
        'health-checks': at('/health-checks'),
      }),
    },
    ...(!isClient && { ctrlAddress: controlAddress }),
    certPem: certificate.toString(),
    fingerprint: sha1Fingerprint(certificate),
    isOnline: isConnected,
    lastJoinedAt: joinedAt,
  };
}
