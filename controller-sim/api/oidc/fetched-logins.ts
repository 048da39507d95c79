// Logins that begin at one controller of a cluster and go on at another: behind a load balancer, the requests of one
// login arrive anywhere. A login belongs to the controller at which it began, so that its code is used once. Another
// one fetches it for a request, and returns it.

import { describeError } from '#lib/errors.ts';
import type { ApiServices } from '../operations/context.ts';
import { type AuthRequests, type HandedOverRequest, homeOf } from './auth-requests.ts';
import { type OidcRequest, text } from './context.ts';

const FETCH = 'login.fetch';
const RETURN = 'login.return';

/** Serves the logins of this controller to others. */
export function serveLogins({ peers }: Pick<ApiServices, 'peers'>, requests: AuthRequests): void {
  peers.serve(FETCH, (idOrCode) => requests.handOver(String(idOrCode)));
  peers.serve(RETURN, (login) => {
    requests.takeOver(login as HandedOverRequest);
  });
}

/** Runs `work` with the login that the request names. */
export async function withFetchedLogin<T>(
  request: OidcRequest<'controllerId' | 'cluster' | 'peers' | 'log'>,
  work: () => Promise<T>,
): Promise<T> {
  const { requests } = request;
  const named = [text(request, 'code'), ...['id', 'authRequestID'].flatMap((name) => given(request, name))];
  const idOrCode = named.find((each) => ownerOf(request, each) !== undefined);
  const owner = idOrCode === undefined ? undefined : ownerOf(request, idOrCode);
  if (idOrCode === undefined || owner === undefined) return work();
  const fetched = await fetchLogin(request, owner, idOrCode);
  if (!fetched) return work();
  const { id } = requests.takeOver(fetched);
  try {
    return await work();
  } finally {
    const left = requests.handOver(id); // none if its code was used
    if (left) await returnLogin(request, owner, left);
  }
}

function given(request: OidcRequest<never>, name: string): string[] {
  return [text(request, name), request.query.get(name) ?? ''];
}

/** The running controller that has the login; undefined if this one has it, or none can. */
function ownerOf(
  { services: { cluster, controllerId }, requests }: OidcRequest<'controllerId' | 'cluster'>,
  idOrCode: string,
): string | undefined {
  const home = homeOf(idOrCode);
  if (home === undefined || home === controllerId || requests.has(idOrCode)) return undefined;
  return cluster.find(home)?.isConnected ? home : undefined;
}

async function fetchLogin(
  { services: { peers, log } }: OidcRequest<'peers' | 'log'>,
  owner: string,
  idOrCode: string,
): Promise<HandedOverRequest | undefined> {
  try {
    return ((await peers.call(owner, FETCH, idOrCode)) ?? undefined) as HandedOverRequest | undefined;
  } catch (error) {
    log.info(
      { controller: owner, error: describeError(error) },
      'the login of another controller could not be fetched',
    );
    return undefined;
  }
}

/** Without its login the client begins again. */
async function returnLogin(
  { services: { peers, log } }: OidcRequest<'peers' | 'log'>,
  owner: string,
  login: HandedOverRequest,
): Promise<void> {
  try {
    await peers.call(owner, RETURN, login);
  } catch (error) {
    log.info(
      { controller: owner, error: describeError(error) },
      'the login of another controller could not be returned',
    );
  }
}
