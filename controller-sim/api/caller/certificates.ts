// Certificates for the time of an API session. The client keeps the private key.

import { commonName, leafOf, sha1Fingerprint } from '#pki/certificates.ts';
import type {
  CurrentApiSessionCertificateCreateResponse,
  CurrentApiSessionCertificateDetail,
} from '#schemas/api/gen/answers.ts';
import type { CurrentApiSessionCertificateCreate } from '#schemas/api/gen/bodies.ts';
import { baseFields } from '../../entities/common.ts';
import { ApiError, notFound } from '../../errors/errors.ts';
import { readCsr } from '../../pki/csr.ts';
import type { ApiSession } from '../../state/kinds/api-session.ts';
import type { ApiSessionCertificate } from '../../state/kinds/api-session-certificate.ts';
import type { Transaction } from '../../state/transaction.ts';
import { created } from '../answers/references.ts';
import { sessionCertificates } from '../edge/api-sessions.ts';
import type { ApiRequest, Data, Done, Handlers } from '../operations/context.ts';
import { list } from '../operations/resource.ts';
import { idOfCaller } from '../operations/rights.ts';

const LIST = 'current-api-session/certificates';
/** reference fact: milliseconds for which the certificate of a session is valid. */
const LIFETIME = 12 * 3_600_000;
/** Certificates of one session; a further one replaces the oldest. Each is part of the session that routers receive. */
const MAX_CERTIFICATES = 100;
const NO_CSR = { code: 'UNHANDLED', message: 'csrPem must not be null or empty' } as const;

export const certificateHandlers = {
  listCurrentApiSessionCertificates: list(sessionCertificates, ({ services, session }) =>
    services.state.tables.apiSessionCertificate.referring('apiSessionId', (session as ApiSession).id),
  ),
  detailCurrentApiSessionCertificate: (request: ApiRequest<'state'>): Data<CurrentApiSessionCertificateDetail> => ({
    data: sessionCertificates.show(own(request), request.services, request),
  }),
  createCurrentApiSessionCertificate: create,
  deleteCurrentApiSessionCertificate: remove,
} satisfies Partial<Handlers<'client'>>;

async function create(
  request: ApiRequest<'state' | 'authority' | 'clock', CurrentApiSessionCertificateCreate>,
): Promise<Data<CurrentApiSessionCertificateCreateResponse>> {
  const { authority, state } = request.services;
  const identityId = idOfCaller(request);
  const apiSession = request.session as ApiSession;
  const { csr: given } = request.body;
  if (given === '') throw new ApiError('COULD_NOT_PROCESS_CSR', NO_CSR);
  const csr = await readCsr(given);
  const id = state.ids.long();
  const certificate = authority.signIdentity(csr, identityId, { apiSessionId: apiSession.id, id, lifetime: LIFETIME });
  const leaf = leafOf(certificate);
  const answer = { data: { ...created(LIST, id), certificate, cas: authority.bundle } };
  // reference fact: certificates of sessions in token form are not stored. Nothing would delete them.
  if (!state.tables.apiSession.has(apiSession.id)) return answer;
  await state.change((transaction) => {
    const current = transaction.get('apiSession', apiSession.id);
    if (!current) throw new ApiError('UNAUTHORIZED');
    const kept = removeOld(transaction, current, request.services.clock.now());
    transaction.put('apiSessionCertificate', {
      ...baseFields(transaction, id),
      apiSessionId: apiSession.id,
      certPem: certificate,
      fingerprint: sha1Fingerprint(leaf),
      subject: `CN=${commonName(leaf) ?? ''}`,
      validFrom: leaf.validFromDate.toISOString(),
      validTo: leaf.validToDate.toISOString(),
    });
    transaction.patch('apiSession', apiSession.id, {
      fingerprints: [...kept, sha1Fingerprint(leaf)],
    });
  });
  return answer;
}

/** Deletes expired certificates of a session, and the oldest beyond the limit. Returns the remaining fingerprints. */
function removeOld(transaction: Transaction, { id, fingerprints }: ApiSession, now: number): string[] {
  const stored = transaction.tables.apiSessionCertificate.referring('apiSessionId', id);
  const all = stored.flatMap((each) => transaction.get('apiSessionCertificate', each.id) ?? []);
  const valid = all.filter(({ validTo }) => Date.parse(validTo) > now);
  const oldest = valid.toSorted((a, b) => Date.parse(a.createdAt) - Date.parse(b.createdAt));
  const removed = new Set(all).difference(new Set(oldest.slice(-MAX_CERTIFICATES + 1)));
  for (const certificate of removed) transaction.delete('apiSessionCertificate', certificate.id);
  const gone = new Set(Array.from(removed, ({ fingerprint }) => fingerprint));
  return fingerprints.filter((each) => !gone.has(each));
}

function own({ services, params, session }: ApiRequest<'state'>): ApiSessionCertificate {
  const id = params.id ?? '';
  const certificate = services.state.tables.apiSessionCertificate.get(id);
  if (!certificate || certificate.apiSessionId !== session?.id) throw notFound('apiSessionCertificate', id);
  return certificate;
}

async function remove(request: ApiRequest<'state'>): Promise<Done> {
  const { id, fingerprint, apiSessionId } = own(request);
  await request.services.state.change((transaction) => {
    transaction.delete('apiSessionCertificate', id);
    const fingerprints = transaction.get('apiSession', apiSessionId)?.fingerprints ?? [];
    transaction.patch('apiSession', apiSessionId, {
      fingerprints: fingerprints.filter((each) => each !== fingerprint),
    });
  });
  return { data: {} };
}
