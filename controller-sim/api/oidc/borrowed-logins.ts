// Logins that begin at one controller of a cluster and go on at another: behind a load balancer, the requests of one
// login arrive anywhere. A login stays with the controller at which it began, so that its code is used once. Another
// one borrows it for a request, and gives it back.

import { describeError } from '#lib/errors.ts';
import type { ApiServices } from '../operations/context.ts';
import { type AuthRequests, homeOf, type LentRequest } from './auth-requests.ts';
import { type OidcRequest, text } from './context.ts';

const LEND = 'login.lend';
const RETURN = 'login.return';

/** Lets other controllers borrow logins of this one. */
export function lendTo({ peers }: Pick<ApiServices, 'peers'>, requests: AuthRequests): void {
  peers.serve(LEND, (idOrCode) => requests.lend(String(idOrCode)));
  peers.serve(RETURN, (lent) => {
    requests.accept(lent as LentRequest);
  });
}

/** Runs `work` with the login that the request names. */
export async function withBorrowed<T>(request: OidcRequest, work: () => Promise<T>): Promise<T> {
  const { requests } = request;
  const named = [text(request, 'code'), ...['id', 'authRequestID'].flatMap((name) => given(request, name))];
  const idOrCode = named.find((each) => lenderOf(request, each) !== undefined);
  const lender = idOrCode === undefined ? undefined : lenderOf(request, idOrCode);
  if (idOrCode === undefined || lender === undefined) return work();
  const borrowed = await borrow(request, lender, idOrCode);
  if (!borrowed) return work();
  const { id } = requests.accept(borrowed);
  try {
    return await work();
  } finally {
    const left = requests.lend(id); // none if its code was used
    if (left) await giveBack(request, lender, left);
  }
}

function given(request: OidcRequest, name: string): string[] {
  return [text(request, name), request.query.get(name) ?? ''];
}

/** The running controller that has the login; undefined if this one has it, or nobody can. */
function lenderOf(
  { services: { cluster, controllerId }, requests }: OidcRequest,
  idOrCode: string,
): string | undefined {
  const home = homeOf(idOrCode);
  if (home === undefined || home === controllerId || requests.has(idOrCode)) return undefined;
  return cluster.find(home)?.isConnected ? home : undefined;
}

async function borrow(
  { services: { peers, log } }: OidcRequest,
  lender: string,
  idOrCode: string,
): Promise<LentRequest | undefined> {
  try {
    return ((await peers.call(lender, LEND, idOrCode)) ?? undefined) as LentRequest | undefined;
  } catch (error) {
    log.info(
      { controller: lender, error: describeError(error) },
      'the login of another controller could not be borrowed',
    );
    return undefined;
  }
}

/** Without its login the client begins again. */
async function giveBack({ services: { peers, log } }: OidcRequest, lender: string, lent: LentRequest): Promise<void> {
  try {
    await peers.call(lender, RETURN, lent);
  } catch (error) {
    log.info(
      { controller: lender, error: describeError(error) },
      'the login of another controller could not be returned',
    );
  }
}
