// Public information: version, capabilities, specifications, authorities, the network's own token.

import { base64Lines } from '#pki/pem.ts';
import { PROTOCOL_VERSION } from '#wire/version-info.ts';
import { ApiError } from '../../errors/errors.ts';
import { ROUTER_CAPABILITIES } from '../../network/router-capabilities.ts';
import { certificateBag } from '../../pki/certificate-bag.ts';
import type { Answer, ApiRequest, Handlers } from '../http/context.ts';
import { listRecords } from '../http/list.ts';
import { type Controller, showController } from './controllers.ts';
import { specification } from './specifications.ts';

const BUILD_DATE = '2026-01-01T00:00:00Z';
/** All capabilities, and those of a controller without a cluster (reference fact: HTTP entities, section 12). */
const CAPABILITIES = ['OIDC_AUTH', 'HA_CONTROLLER', 'OIDC_AUTH_WITH_CSR'];
const ALONE = ['OIDC_AUTH', 'OIDC_AUTH_WITH_CSR'];
const IN_CLUSTER = [...ALONE, 'HA_CONTROLLER'];
const SPECS = { 'edge-client': 'client', 'edge-management': 'management' } as const;

const dateOf = (get: (controller: Controller) => string | null) => ({
  type: 'datetime' as const,
  get: (controller: Controller) => {
    const date = get(controller);
    return date === null ? null : new Date(date);
  },
});

const CONTROLLERS = {
  tags: { get: () => undefined },
  name: { get: ({ name }: Controller) => name },
  certPem: { get: ({ certPem }: Controller) => certPem },
  fingerprint: { get: ({ fingerprint }: Controller) => fingerprint },
  ctrlAddress: { get: ({ ctrlAddress }: Controller) => ctrlAddress },
  isOnline: { type: 'bool', get: ({ isOnline }: Controller) => isOnline },
  lastJoinedAt: dateOf(({ lastJoinedAt }) => lastJoinedAt),
  createdAt: dateOf(({ createdAt }) => createdAt),
  updatedAt: dateOf(({ updatedAt }) => updatedAt),
  isPreferredLeader: { type: 'bool', get: () => false },
  isSystem: { type: 'bool', get: () => null },
} as const;

export const informationHandlers: Handlers = {
  listRoot: version,
  listVersion: version,
  listEnumeratedCapabilities: () => ({ data: CAPABILITIES }),
  listEnumeratedRouterCapabilities: () => ({ data: ROUTER_CAPABILITIES }),
  listWellKnownCas: ({ services }) => ({
    raw: base64Lines(certificateBag(services.authority.roots)), // reference fact; the C SDK crashes on long lines
    contentType: 'application/pkcs7-mime',
    headers: { 'content-transfer-encoding': 'base64' },
  }),
  listNetworkJWTs: networkTokens,
  listSpecs: () => ({ data: [showSpec('edge-client')] }),
  detailSpec: ({ params }) => ({ data: showSpec(knownSpec(params.id)) }),
  detailSpecBody: specBody,
  // reference fact: a controller without a cluster has an empty list.
  listControllers: (request) => ({
    page: listRecords(controllersOf(request), request.query, CONTROLLERS, (each) => each),
  }),
};

function controllersOf(request: ApiRequest): Controller[] {
  const { cluster, isClusterMember } = request.services;
  return isClusterMember ? cluster.membership.members.map((member) => showController(member, request)) : [];
}

function version({ services }: ApiRequest): Answer {
  const { baseUrl } = services;
  const api = (path: string, at = `${baseUrl}${path}`) => ({ v1: { apiBaseUrls: [at], path } });
  return {
    data: {
      apiVersions: {
        edge: api('/edge/client/v1'),
        'edge-client': api('/edge/client/v1'),
        'edge-management': api('/edge/management/v1'),
        'edge-oidc': api('/oidc'),
        fabric: api('/fabric/v1', baseUrl),
        'health-checks': api('/health-checks/v1'),
      },
      buildDate: BUILD_DATE,
      capabilities: services.isClusterMember ? IN_CLUSTER : ALONE,
      revision: 'edgeweave',
      runtimeVersion: process.version,
      version: PROTOCOL_VERSION,
    },
  };
}

async function networkTokens({ services }: ApiRequest): Promise<Answer> {
  const token = await services.tokens.network(services.state.ids.uuid());
  return { data: [{ name: 'default', token }] };
}

function knownSpec(id = ''): keyof typeof SPECS {
  if (!Object.hasOwn(SPECS, id)) throw new ApiError('NOT_FOUND');
  return id as keyof typeof SPECS;
}

function showSpec(id: string): Record<string, unknown> {
  const self = `./specs/${id}`;
  return {
    _links: { self: { href: self }, spec: { href: `${self}/spec` } },
    id,
    createdAt: BUILD_DATE,
    updatedAt: BUILD_DATE,
    tags: {},
    name: id,
  };
}

/** API specifications, under the paths that code generators expect. */
export const documentHandlers: Handlers = {
  getSwagger: async ({ operation }) => ({
    raw: await specification(operation.api, 'plain'),
    contentType: 'application/json',
    isConstant: true,
  }),
};

/** The OpenAPI document of an API: JSON, which is YAML as well. */
async function specBody(request: ApiRequest): Promise<Answer> {
  const api = SPECS[knownSpec(request.params.id)];
  const wantsJson = String(request.headers.accept ?? '').includes('application/json');
  return wantsJson
    ? { json: await specification(api, 'plain'), isConstant: true }
    : { raw: await specification(api, 'indented'), contentType: 'text/yaml', isConstant: true };
}
