// Certificates that a controller issued for the time of an API session.

import type { Entity } from '../entity.ts';
import { kind } from '../kind.ts';

/** A certificate issued for the time of an API session. */
export interface ApiSessionCertificate extends Entity {
  readonly apiSessionId: string;
  readonly certPem: string;
  readonly fingerprint: string;
  readonly subject: string;
  readonly validFrom: string;
  readonly validTo: string;
}

export const apiSessionCertificate = kind<ApiSessionCertificate>()({
  plural: 'current-api-session/certificates',
  store: 'apiSessionCertificates',
  unique: ['fingerprint'],
  refers: [{ key: 'apiSessionId', to: 'apiSession', form: 'id', repair: 'delete', onDelete: 'delete' }],
});
