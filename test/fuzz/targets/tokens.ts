// Tokens: enrollment tokens that routers read, and tokens that clients present to the simulator.

import { IdSource } from '#lib/ids.ts';
import { seededRandom } from '#lib/random.ts';
import { VirtualClock } from '#lib/time/clock.ts';
import { EnrollmentError } from '../../../agent/enroll/errors.ts';
import { readToken } from '../../../agent/enroll/token.ts';
import { Authority } from '../../../controller-sim/pki/authority.ts';
import { Tokens } from '../../../controller-sim/pki/tokens.ts';
import { State } from '../../../controller-sim/state/state.ts';
import { MemoryStore } from '../../../controller-sim/state/store/memory-store.ts';
import type { FuzzTarget } from '../runner.ts';

const HEADER = Buffer.from('{"alg":"RS256"}').toString('base64url');

class Rejected extends Error {}

export async function tokenTargets(): Promise<FuzzTarget[]> {
  const clock = new VirtualClock();
  const state = await State.open({ store: new MemoryStore(), clock, ids: new IdSource(seededRandom(1)) });
  const authority = await Authority.open({ state, clock }, ['localhost']);
  const tokens = new Tokens({
    authority,
    clock,
    issuer: 'https://localhost:1',
    issuers: () => ['https://localhost:1'],
    controlAddresses: () => ['tls:localhost:1'],
  });
  const enrollment = { subject: 'router', token: 'secret', expiresAt: new Date(clock.now() + 1_000_000).toISOString() };
  const session = {
    serviceId: 's',
    identityId: 'i',
    apiSessionId: 'a',
    type: 'Dial',
    id: 'x',
    isLegacy: false,
  } as const;
  const seeds = await Promise.all([
    tokens.enrollment({ ...enrollment, method: 'erott' }),
    tokens.enrollment({ ...enrollment, method: 'ott' }),
    tokens.network('network'),
    tokens.totp('session', 'identity'),
    tokens.session(session),
  ]);
  const check = async (input: Buffer) => {
    const token = input.toString('latin1');
    const results = [await tokens.verify(token), await tokens.verifyAccess(token), await tokens.verifySession(token)];
    if (results.every((result) => result === undefined)) throw new Rejected('the token is invalid');
  };
  const rejectsToken = (error: unknown) => error instanceof EnrollmentError;
  return [
    {
      name: 'enrollment tokens',
      seeds: seeds.map((seed) => Buffer.from(seed)),
      run: (input) => readToken(input.toString('latin1')),
      rejects: rejectsToken,
    },
    {
      name: 'enrollment claims',
      seeds: seeds.map((seed) => Buffer.from(seed.split('.')[1] ?? '', 'base64url')),
      run: (input) => readToken([HEADER, input.toString('base64url'), 'AAAA'].join('.')),
      rejects: rejectsToken,
    },
    {
      name: 'tokens',
      seeds: seeds.map((seed) => Buffer.from(seed)),
      run: check,
      rejects: (error) => error instanceof Rejected,
    },
  ];
}
