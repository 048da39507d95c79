// Public information: version, capabilities, specifications, authorities, the network's own token.

import { mediaType } from '#http/content-negotiation.ts';
import { base64Lines } from '#pki/pem.ts';
import type {
  ControllerDetail,
  Names,
  NetworkJWTList,
  SpecDetail,
  SpecList,
  Version,
} from '#schemas/api/gen/answers.ts';
import { BUILD_DATE } from '#wire/channel/build-date.ts';
import { PROTOCOL_VERSION } from '#wire/channel/version-info.ts';
import { ApiError } from '../../errors/errors.ts';
import { ROUTER_CAPABILITIES } from '../../network/router-capabilities.ts';
import { certificateBag } from '../../pki/certificate-bag.ts';
import type { ApiRequest, Data, Handlers, Json, Page, Raw } from '../operations/context.ts';
import { listRecords } from '../operations/list.ts';
import { showController } from './controllers.ts';
import { specification } from './specifications.ts';

/** All capabilities, and those of a controller without a cluster (reference fact: HTTP entities, section 12). */
const CAPABILITIES = ['OIDC_AUTH', 'HA_CONTROLLER', 'OIDC_AUTH_WITH_CSR'];
const ALONE = ['OIDC_AUTH', 'OIDC_AUTH_WITH_CSR'];
const IN_CLUSTER = [...ALONE, 'HA_CONTROLLER'];
const SPECS = { 'edge-client': 'client', 'edge-management': 'management' } as const;

const dateOf = (get: (controller: ControllerDetail) => string | null) => ({
  type: 'datetime' as const,
  get: (controller: ControllerDetail) => {
    const date = get(controller);
    return date === null ? null : new Date(date);
  },
});

const CONTROLLERS = {
  tags: { get: () => undefined },
  name: { get: ({ name }: ControllerDetail) => name },
  certPem: { get: ({ certPem }: ControllerDetail) => certPem },
  fingerprint: { get: ({ fingerprint }: ControllerDetail) => fingerprint },
  ctrlAddress: { get: ({ ctrlAddress }: ControllerDetail) => ctrlAddress },
  isOnline: { type: 'bool', get: ({ isOnline }: ControllerDetail) => isOnline },
  lastJoinedAt: dateOf(({ lastJoinedAt }) => lastJoinedAt),
  createdAt: dateOf(({ createdAt }) => createdAt),
  updatedAt: dateOf(({ updatedAt }) => updatedAt),
  isPreferredLeader: { type: 'bool', get: () => false },
  isSystem: { type: 'bool', get: () => null },
} as const;

export const informationHandlers = {
  listRoot: version,
  listVersion: version,
  listEnumeratedCapabilities: (): Data<Names> => ({ data: CAPABILITIES }),
  listEnumeratedRouterCapabilities: (): Data<Names> => ({ data: ROUTER_CAPABILITIES }),
  listWellKnownCas: ({ services }: ApiRequest<'authority'>): Raw => ({
    raw: base64Lines(certificateBag(services.authority.roots)), // reference fact; the C SDK crashes on long lines
    contentType: 'application/pkcs7-mime',
    headers: { 'content-transfer-encoding': 'base64' },
  }),
  listNetworkJWTs: networkTokens,
  listSpecs: (): Data<SpecList> => ({ data: [showSpec('edge-client')] }),
  detailSpec: ({ params }: ApiRequest<never>): Data<SpecDetail> => ({ data: showSpec(knownSpec(params.id)) }),
  detailSpecBody: specBody,
  // reference fact: a controller without a cluster has an empty list.
  listControllers: (request: ApiRequest<'cluster'>): Page<ControllerDetail> => ({
    page: listRecords(controllersOf(request), request.query, CONTROLLERS, (each) => each),
  }),
} satisfies Partial<Handlers<'management'> & Handlers<'client'>>;

function controllersOf(request: ApiRequest<'cluster'>): ControllerDetail[] {
  return request.services.cluster.reported.map((member) => showController(member, request));
}

function version({ services }: ApiRequest<'baseUrl' | 'cluster'>): Data<Version> {
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
      capabilities: services.cluster.isEnabled ? IN_CLUSTER : ALONE,
      revision: 'edgeweave',
      runtimeVersion: process.version,
      version: PROTOCOL_VERSION,
    },
  };
}

async function networkTokens({ services }: ApiRequest<'state' | 'tokens'>): Promise<Data<NetworkJWTList>> {
  const token = await services.tokens.network(services.state.ids.uuid());
  return { data: [{ name: 'default', token }] };
}

function knownSpec(id = ''): keyof typeof SPECS {
  if (!Object.hasOwn(SPECS, id)) throw new ApiError('NOT_FOUND');
  return id as keyof typeof SPECS;
}

function showSpec(id: string): SpecDetail {
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
export const documentHandlers = {
  getSwagger: async ({ operation }: ApiRequest<never>): Promise<Raw> => ({
    raw: await specification(operation.api, 'plain'),
    contentType: 'application/json',
    isConstant: true,
  }),
} satisfies Partial<Handlers<'management'> & Handlers<'client'> & Handlers<'fabric'> & Handlers<'lab'>>;

/** The OpenAPI document of an API: JSON, which is YAML as well. */
async function specBody(request: ApiRequest<never>): Promise<Json | Raw> {
  const api = SPECS[knownSpec(request.params.id)];
  const type = mediaType(request.headers.accept, ['text/yaml', 'application/json']);
  return type === 'application/json'
    ? { json: await specification(api, 'plain'), isConstant: true }
    : { raw: await specification(api, 'indented'), contentType: 'text/yaml', isConstant: true };
}
