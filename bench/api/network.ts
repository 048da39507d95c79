// The data of the measured simulator, and the requests to it.

import type { Agent } from 'undici';
import { openManagement } from '../../test/support/clients/management.ts';
import { ask, CONNECTIONS, type Target } from './load.ts';
import type { SimulatorReady } from './programs.ts';

const API_SESSIONS = 1_000;
/** Services that the measured client may dial, independent of the total number. */
const OWN_SERVICES = 5;
/** In the order of the table. */
export const REQUESTS = [
  'GET version',
  'GET identities?limit=100',
  'GET identities?limit=100 with a filter',
  'GET identities?limit=100 with changing filters',
  'GET identities?limit=100 sorted by name',
  'GET identities by a name',
  'GET one identity',
  'GET own services',
  'GET one own service',
  'POST identities',
] as const;
export type RequestName = (typeof REQUESTS)[number];

export interface Filled {
  readonly token: string;
  readonly clientToken: string;
  readonly identityId: string;
  readonly serviceId: string;
}

/**
 * Creates that many identities, and a tenth as many services and policies; one client has a few services of its own.
 */
export async function fill(agent: Agent, ready: SimulatorReady, identities: number): Promise<Filled> {
  await using management = await openManagement(ready.baseUrl, ready.ca, 'admin', 'admin');
  const { services, servicePolicies, authenticators } = management;
  await inParallel(identities, (each) =>
    management.identities.create({
      name: `identity-${each}`,
      type: 'Device',
      isAdmin: false,
      roleAttributes: [`role-${each % 50}`],
    }),
  );
  await inParallel(identities / 10, (each) =>
    services.create({ name: `service-${each}`, encryptionRequired: true, roleAttributes: [`role-${each % 50}`] }),
  );
  await inParallel(identities / 10, (each) =>
    servicePolicies.create({
      name: `policy-${each}`,
      type: 'Dial',
      semantic: 'AllOf',
      identityRoles: [`#role-${each % 50}`, `#group-${each}`],
      serviceRoles: [`#role-${each % 50}`, `#group-${each}`],
    }),
  );
  const client = { name: 'client', type: 'User', isAdmin: false, roleAttributes: ['own'] } as const;
  const { id: identityId } = await management.identities.create(client);
  await authenticators.create({ identityId, method: 'updb', username: 'client', password: 'client' });
  let serviceId = '';
  for (let each = 0; each < OWN_SERVICES; each++) {
    const own = { name: `own-${each}`, encryptionRequired: true, roleAttributes: ['own'] };
    serviceId = (await services.create(own)).id;
  }
  const own = { semantic: 'AnyOf', identityRoles: ['#own'], serviceRoles: ['#own'] } as const;
  await servicePolicies.create({ name: 'own', type: 'Dial', ...own });
  const sessions = Math.min(API_SESSIONS, identities);
  await inParallel(sessions, () => login(agent, ready, 'client', 'client'));
  const token = await login(agent, ready, 'admin', 'admin');
  return { token, clientToken: await login(agent, ready, 'client', 'client'), identityId, serviceId };
}

async function login(agent: Agent, { clientUrl }: SimulatorReady, username: string, password: string): Promise<string> {
  const url = `${clientUrl}/authenticate?method=password`;
  const answer = await ask(agent, { url, method: 'POST', body: () => ({ username, password }) });
  return (JSON.parse(answer) as { data: { token: string } }).data.token;
}

async function inParallel(count: number, work: (each: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, worker));
}

export function targets(
  { managementUrl, clientUrl }: SimulatorReady,
  { token, clientToken, identityId, serviceId }: Filled,
): Readonly<Record<RequestName, Target>> {
  const filtered = (text: string) =>
    `${managementUrl}/identities?limit=100&filter=${encodeURIComponent(`name contains "${text}"`)}`;
  const stamp = Date.now();
  return {
    'GET version': { url: `${managementUrl}/version`, method: 'GET' },
    'GET identities?limit=100': { url: `${managementUrl}/identities?limit=100`, method: 'GET', token },
    'GET identities?limit=100 with a filter': { url: filtered('-9'), method: 'GET', token },
    // More searches than the simulator remembers.
    'GET identities?limit=100 with changing filters': {
      url: (count) => filtered(`-9${count % 10}`),
      method: 'GET',
      token,
    },
    'GET identities?limit=100 sorted by name': {
      url: `${managementUrl}/identities?limit=100&sort=${encodeURIComponent('name desc')}`,
      method: 'GET',
      token,
    },
    'GET identities by a name': {
      url: `${managementUrl}/identities?filter=${encodeURIComponent('name = "identity-9"')}`,
      method: 'GET',
      token,
    },
    'GET one identity': { url: `${managementUrl}/identities/${identityId}`, method: 'GET', token },
    'GET own services': { url: `${clientUrl}/services`, method: 'GET', token: clientToken },
    'GET one own service': { url: `${clientUrl}/services/${serviceId}`, method: 'GET', token: clientToken },
    'POST identities': {
      url: `${managementUrl}/identities`,
      method: 'POST',
      token,
      body: (count) => ({ name: `made-${stamp}-${made++}-${count}`, type: 'Device', isAdmin: false }),
    },
  };
}

let made = 0;
