// Remedies for connections that are not established: the codes of the system do not suggest any.

import { errorCode } from '../errors.ts';

const NAME = 'check the spelling of the host name, and that the name servers of this machine know it';
const ROUTE = 'check the address, and the routes and firewalls on the way';
const REMEDIES: ReadonlyMap<string, string> = new Map([
  ['ENOTFOUND', NAME],
  ['EAI_AGAIN', `${NAME}: they did not answer`],
  ['ECONNREFUSED', 'check the address and the port: nothing listens there, or a firewall rejects the connection'],
  ['ETIMEDOUT', ROUTE],
  ['EHOSTUNREACH', ROUTE],
  ['ENETUNREACH', ROUTE],
]);

/** The remedy for a failed connection, or undefined for another error. Looks at the causes of the error, too. */
export function connectRemedy(error: unknown): string | undefined {
  for (let each = error; each instanceof Error; each = each.cause) {
    const remedy = REMEDIES.get(errorCode(each) ?? '');
    if (remedy !== undefined) return remedy;
  }
  return undefined;
}
