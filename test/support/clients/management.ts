// The typed clients of a controller for its administrator.

import type { EdgeRouterCreate, IdentityCreate } from '#schemas/api/gen/bodies.ts';
import { openClient } from '../../../controller-sim/client/api-client.ts';
import type { ApiClient } from '../../../controller-sim/client/api-types.ts';

/** The management API, and the fabric API in `fabric`. */
export type Management = ApiClient<'management'> & {
  readonly fabric: ApiClient<'fabric'>;
  /** The token of the first session. */
  readonly sessionToken: string;
};

/** Logs in. `url` is an address of the controller, `ca` is PEM. */
export async function openManagement(url: string, ca: string, username: string, password: string): Promise<Management> {
  const options = { baseUrl: new URL(url).origin, ca, username, password };
  const management = openClient('management', options);
  const fabric = openClient('fabric', options);
  const close = async () => void (await Promise.all([management.close(), fabric.close()]));
  try {
    const sessionToken = await management.token();
    const { call, token, ...collections } = management;
    return { ...collections, call, token, fabric, sessionToken, close, [Symbol.asyncDispose]: close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Creates a router. */
export async function createRouter(
  { edgeRouters }: Pick<Management, 'edgeRouters'>,
  body: EdgeRouterCreate,
): Promise<{ id: string; enrollmentJwt: string }> {
  const { id } = await edgeRouters.create(body);
  const { enrollmentJwt } = await edgeRouters.get(id);
  return { id, enrollmentJwt: enrollmentJwt ?? '' };
}

/** Creates an identity that enrolls with a one-time token. */
export async function createDevice(
  { identities }: Pick<Management, 'identities'>,
  body: Omit<IdentityCreate, 'type' | 'isAdmin'> & Partial<Pick<IdentityCreate, 'type'>>,
): Promise<{ id: string; token: string; jwt: string }> {
  const { id } = await identities.create({ type: 'Device', isAdmin: false, enrollment: { ott: true }, ...body });
  const { token = '', jwt = '' } = (await identities.get(id)).enrollment.ott ?? {};
  return { id, token, jwt };
}

/** Returns the id of a configuration. `type` is the name of a config type. */
export async function createConfig(
  { configs, configTypes }: Pick<Management, 'configs' | 'configTypes'>,
  name: string,
  type: string,
  data: Readonly<Record<string, unknown>>,
): Promise<string> {
  const [found] = await configTypes.list({ filter: `name = "${type}"` });
  return (await configs.create({ name, configTypeId: found?.id ?? '', data })).id;
}

export interface HostedService {
  /** Id of the identity that may host it. */
  readonly hostedBy: string;
  /** Id of the identity that may dial it; by default, all of them may. */
  readonly dialedBy?: string;
  readonly isEncrypted: boolean;
  /** Data of its configurations, by config type. */
  readonly configs?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/** Creates a service over all routers, with its configurations and policies. Returns its id. */
export async function hostService(
  management: Pick<
    Management,
    'configs' | 'configTypes' | 'services' | 'servicePolicies' | 'serviceEdgeRouterPolicies'
  >,
  name: string,
  { hostedBy, dialedBy, isEncrypted, configs: wanted = {} }: HostedService,
): Promise<string> {
  const configs: string[] = [];
  for (const [type, data] of Object.entries(wanted))
    configs.push(await createConfig(management, `${name}-${type}`, type, data));
  const { id } = await management.services.create({ name, encryptionRequired: isEncrypted, configs });
  const [serviceRoles, semantic] = [[`@${id}`], 'AnyOf'] as const;
  const { servicePolicies, serviceEdgeRouterPolicies } = management;
  const dialers = [dialedBy === undefined ? '#all' : `@${dialedBy}`];
  await servicePolicies.create({ name: `${name}-dial`, type: 'Dial', semantic, identityRoles: dialers, serviceRoles });
  const routers = { serviceRoles, edgeRouterRoles: ['#all'] };
  await serviceEdgeRouterPolicies.create({ name: `${name}-routers`, semantic, ...routers });
  const hosts = [`@${hostedBy}`]; // the last one: the host begins when everything else is there
  await servicePolicies.create({ name: `${name}-bind`, type: 'Bind', semantic, identityRoles: hosts, serviceRoles });
  return id;
}
