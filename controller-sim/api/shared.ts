// Operations that both APIs have: version, login, the own session and identity.

import { authenticate } from '../auth/authenticate.ts';
import type { Answer, ApiRequest, Operation } from '../request/context.ts';
import type { ApiSession } from '../state/types.ts';
import { showApiSession, showIdentity } from './management/resources.ts';

export const VERSION = 'v2.0.0';

export const sharedOperations: readonly Operation[] = [
  { method: 'GET', path: '/', requires: 'anybody', handle: version },
  { method: 'GET', path: '/version', requires: 'anybody', handle: version },
  { method: 'GET', path: '/enumerated-capabilities', requires: 'anybody', handle: () => ({ data: [] }) },
  {
    method: 'POST',
    path: '/authenticate',
    requires: 'anybody',
    handle: async (request) => ({ data: own(await authenticate(request), request) }),
  },
  {
    method: 'GET',
    path: '/current-api-session',
    requires: 'session',
    handle: (request) => ({ data: own(request.session as ApiSession, request) }),
  },
  { method: 'DELETE', path: '/current-api-session', requires: 'session', handle: logout },
  {
    method: 'GET',
    path: '/current-identity',
    requires: 'session',
    handle: (request) => ({ data: request.identity ? showIdentity(request.identity, request.services) : {} }),
  },
  { method: 'GET', path: '/network-jwts', requires: 'anybody', handle: networkJwts },
];

function version(request: ApiRequest): Answer {
  const { baseUrl } = request.services;
  const api = (path: string) => ({ v1: { apiBaseUrls: [`${baseUrl}${path}`], path } });
  return {
    data: {
      apiVersions: {
        edge: api('/edge/client/v1'),
        'edge-client': api('/edge/client/v1'),
        'edge-management': api('/edge/management/v1'),
      },
      buildDate: '2026-01-01T00:00:00Z',
      capabilities: [],
      revision: 'edgeweave',
      runtimeVersion: process.version,
      version: VERSION,
    },
  };
}

function own(session: ApiSession, request: ApiRequest): Record<string, unknown> {
  const { sessionLifetime, clock } = request.services;
  const expiresAt = new Date(clock.now() + sessionLifetime).toISOString();
  return {
    ...showApiSession(session, request.services),
    expirationSeconds: Math.round(sessionLifetime / 1000),
    expiresAt,
    isCertExtendable: false,
  };
}

async function logout(request: ApiRequest): Promise<Answer> {
  const session = request.session as ApiSession;
  await request.services.state.change((transaction) => {
    for (const { id } of transaction.tables.session.referring('apiSessionId', session.id))
      transaction.delete('session', id);
    transaction.delete('apiSession', session.id);
  });
  return { data: {} };
}

async function networkJwts({ services }: ApiRequest): Promise<Answer> {
  const token = await services.tokens.network(services.state.ids.uuid());
  return { data: [{ name: 'default', token }] };
}
