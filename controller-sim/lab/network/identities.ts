// Enrolled identities for tests: a new key and its certificate, in the file that SDKs load. A client would get the same
// by enrolling with a one-time token.

import { generateKeyPair } from 'node:crypto';
import { promisify } from 'node:util';
import { leafOf } from '#pki/certificates.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import { addAuthenticator, certificateProof } from '../../entities/authenticator.ts';
import type { Authority } from '../../pki/authority.ts';
import type { State } from '../../state/state.ts';
import type { Tables } from '../../state/tables.ts';
import { InvalidError } from '../lab-error.ts';
import { named } from '../named.ts';

/** The file of an enrolled identity, as SDKs of the reference read and write it. */
export interface IdentityFile {
  /** Address of the client API of this controller. */
  readonly ztAPI: string;
  /** Those of all controllers. */
  readonly ztAPIs: readonly string[];
  /** PEM texts, each with the prefix `pem:`. */
  readonly id: { readonly cert: string; readonly key: string; readonly ca: string };
}

export interface IdentityOptions {
  /** A new identity gets them; an existing one keeps its own. */
  readonly roleAttributes?: readonly string[];
}

export interface IdentityComponents {
  readonly state: State;
  readonly authority: Pick<Authority, 'signIdentity' | 'bundle'>;
  readonly cluster: Cluster;
}

const CLIENT_API = '/edge/client/v1';
const NO_NAMES = { dns: [], ip: [], uri: [], email: [] };
const newKey = promisify(generateKeyPair);

/**
 * Enrolls an identity (name or id): its earlier certificate and its one-time token are invalid afterwards. Rejects with
 * UnknownError, and with InvalidError for the identity of a router.
 */
export async function enrollIdentity(
  { state, authority, cluster }: IdentityComponents,
  name: string,
): Promise<IdentityFile> {
  const { id, type } = named(state.tables.identity, 'identity', name);
  if (type === 'Router')
    throw new InvalidError('name', `${name} is the identity of a router, which enrolls itself; use another name`, name);
  const { privateKey, publicKey } = await newKey('ec', { namedCurve: 'P-256' });
  const request = {
    commonName: undefined,
    names: NO_NAMES,
    publicKey: publicKey.export({ type: 'spki', format: 'der' }),
  };
  const cert = authority.signIdentity(request, id);
  await state.change((transaction) => {
    const { tables } = transaction;
    for (const each of tables.enrollment.referring('identityId', id)) transaction.delete('enrollment', each.id);
    for (const each of tables.authenticator.referring('identityId', id))
      if (each.method === 'cert') transaction.delete('authenticator', each.id);
    const proof = { ...certificateProof(leafOf(cert)), certPem: cert };
    addAuthenticator(transaction, { id: state.ids.short(), identityId: id, proof });
  });
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' });
  const { self, membership } = cluster;
  return {
    ztAPI: `${self.baseUrl}${CLIENT_API}`,
    ztAPIs: membership.members.map(({ baseUrl }) => `${baseUrl}${CLIENT_API}`),
    id: { cert: `pem:${cert}`, key: `pem:${key}`, ca: `pem:${authority.bundle}` },
  };
}

/**
 * The one-time token of a router or an identity that has not enrolled yet. @throws UnknownError for an unknown name,
 * InvalidError without a token
 */
export function enrollmentToken(tables: Tables, name: string): string {
  const routers = tables.router.get(name) ?? tables.router.findBy('name', name);
  const { id } = routers ?? named(tables.identity, 'router or identity', name, [tables.router]);
  const key = routers ? 'routerId' : 'identityId';
  const jwt = tables.enrollment.referring(key, id).find((each) => each.jwt !== '')?.jwt;
  if (jwt !== undefined) return jwt;
  throw new InvalidError(
    'name',
    `${name} has no enrollment token: it has enrolled, or does not enroll with a token; re-enroll it to get one`,
    name,
  );
}
