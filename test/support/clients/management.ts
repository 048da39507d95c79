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
