// Revocations: of a token, of all tokens of a session, or of an identity.

import type { RevocationDetail } from '#schemas/api/gen/answers.ts';
import type { RevocationCreate } from '#schemas/api/gen/bodies.ts';
import { existing } from '../../entities/common.ts';
import { revocationOf } from '../../entities/revocation.ts';
import { invalid, withoutCause } from '../../errors/errors.ts';
import { base } from '../answers/references.ts';
import type { Handlers } from '../operations/context.ts';
import { field } from '../operations/list.ts';
import { type Creatable, create, detail, list } from '../operations/resource.ts';

/** Ids of tokens and of their sessions. */
const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

const revocations: Creatable<'revocation', RevocationDetail, RevocationCreate, never> = {
  kind: 'revocation',
  symbols: {
    type: field('type'),
    expiresAt: { type: 'datetime', get: ({ expiresAt }) => new Date(expiresAt) },
    issuedBefore: { type: 'datetime', get: () => null },
  },
  newId: (_services, { given }) => given.id ?? '',
  create: (transaction, id, body) => {
    const type = body.given.type ?? 'JTI'; // the body has one
    if (type === 'IDENTITY') withoutCause(() => existing(transaction, 'identity', id));
    else if (!UUID.test(id)) throw invalid('id', 'must be a valid UUID v4', id);
    transaction.put('revocation', revocationOf(transaction, id, type, body.tags()));
  },
  show: (revocation): RevocationDetail => ({
    ...base('revocation', revocation),
    type: revocation.type,
    expiresAt: revocation.expiresAt,
  }),
};

export const revocationHandlers = {
  listRevocations: list(revocations),
  createRevocation: create(revocations),
  detailRevocation: detail(revocations),
} satisfies Partial<Handlers<'management'>>;
