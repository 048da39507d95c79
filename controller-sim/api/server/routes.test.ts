// Operations and their handlers. The compiler checks the second test: it fails if one of the errors that it expects is
// missing.

import t from 'tap';
import { readOperations } from '#schemas/api/operations.ts';
import type { Handlers } from '../operations/context.ts';
import { routes } from './routes.ts';

t.test('each operation of the table has a handler', async (t) => {
  t.same(
    routes().map(({ operation: { api, id } }) => `${api} ${id}`),
    readOperations().map(({ api, id }) => `${api} ${id}`),
  );
});

t.test('handlers read and answer only the fields of their operation', async (t) => {
  const {
    verifyMfa,
    createTotpToken,
    createService,
  }: Pick<Handlers<'client'>, 'verifyMfa' | 'createTotpToken'> & Pick<Handlers<'management'>, 'createService'> = {
    // @ts-expect-error the body has a code
    verifyMfa: ({ body }) => ({ data: {}, headers: { code: body.kode } }),
    // @ts-expect-error the answer has a token
    createTotpToken: () => ({ data: { issuedAt: '2026-01-01T00:00:00Z' } }),
    createService: ({ body }) => ({ data: { id: body.name, _links: null } }),
  };
  t.same(
    [verifyMfa, createTotpToken, createService].map((each) => typeof each),
    Array(3).fill('function'),
  );
});
