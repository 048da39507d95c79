// Steps of a login that another step of the same login overtakes.

import t from 'tap';
import { IdSource } from '#lib/ids.ts';
import { seededRandom } from '#lib/random.ts';
import { VirtualClock } from '#lib/time/clock.ts';
import { enrollTotp } from '../../auth/second-factor/second-factor.ts';
import { plainIdentity } from '../../entities/identity.ts';
import type { AuthPolicy } from '../../state/kinds/auth-policy.ts';
import type { Identity } from '../../state/kinds/identity.ts';
import { State } from '../../state/state.ts';
import { MemoryStore } from '../../state/store/memory-store.ts';
import { AuthRequests } from './auth-requests.ts';
import type { OidcRequest } from './context.ts';
import { startTotpEnrollment } from './login.ts';

t.test('an enrollment never answers with the second factor of a user who logs in meanwhile', async (t) => {
  const clock = new VirtualClock();
  const random = seededRandom(1);
  const ids = new IdSource(random);
  const state = await State.open({ store: new MemoryStore(), clock, ids });
  const services = { state, random };
  const [anna, berta] = await state.change((transaction) => {
    const identities = ['anna', 'berta'].map((name) => plainIdentity(transaction, name, name));
    for (const identity of identities) transaction.put('identity', identity);
    return identities as [Identity, Identity];
  });
  const secret = (await enrollTotp(services, berta)).secret;
  const requests = new AuthRequests(clock, ids);
  const login = requests.add({
    clientId: 'native',
    redirectUri: 'http://localhost/',
    scope: 'openid',
    state: undefined,
    nonce: undefined,
    codeChallenge: '',
    remoteAddress: '',
    configTypes: [],
  });
  const policy = {} as AuthPolicy;
  login.proven = { identity: anna, policy };
  const body = { id: login.id };
  const request: OidcRequest<'state' | 'random'> = {
    services,
    requests,
    body,
    contentType: 'application/json',
    headers: {},
    query: new URLSearchParams(),
    certificates: [],
    viaRouter: undefined,
    remoteAddress: '',
  };
  const answer = startTotpEnrollment(request);
  login.proven = { identity: berta, policy };
  const { status, body: enrolled } = await answer;
  t.equal(status, 201);
  t.match(enrolled, { provisioningUrl: /:anna\?/ });
  t.notMatch(enrolled, { provisioningUrl: new RegExp(secret) });
  await state.close();
});
