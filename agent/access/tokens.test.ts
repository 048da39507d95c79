// Tokens of controllers whose clock differs from this router's, and of several signers.

import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { create } from '@bufbuild/protobuf';
import { SignJWT } from 'jose';
import t from 'tap';
import { silentLog } from '#lib/log/log.ts';
import { VirtualClock } from '#lib/time/clock.ts';
import { DataState_PublicKey_Usage, DataState_PublicKeySchema } from '#wire/gen/edge_control_pb.js';
import { DataModel } from './data-model.ts';
import { Tokens } from './tokens.ts';

const MINUTE = 60;

function signer(model: DataModel, kid: string) {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const data = publicKey.export({ format: 'der', type: 'spki' });
  const usages = [DataState_PublicKey_Usage.JWTVALIDATION];
  model.publicKeys.set(kid, create(DataState_PublicKeySchema, { kid, data, usages, format: 1 }));
  return (claims: Record<string, unknown>, key: KeyObject = privateKey) =>
    new SignJWT({ aud: 'openziti', sub: 'me', z_asid: 'session', ...claims })
      .setProtectedHeader({ alg: 'ES256', kid })
      .sign(key);
}

function network() {
  const clock = new VirtualClock();
  const model = new DataModel(silentLog);
  const now = clock.now() / 1_000;
  return { clock, model, now, tokens: new Tokens({ clock, model }), sign: signer(model, 'one') };
}

t.test('tokens of a controller whose clock is a little ahead are valid', async (t) => {
  const { now, tokens, sign } = network();
  const issued = (at: number) => ({ iat: at, nbf: at, exp: at + 10 * MINUTE });
  const ahead = issued(now + 5);
  t.match(await tokens.access(await sign({ z_t: 'a', ...ahead })), { z_asid: 'session' });
  t.match(await tokens.service(await sign({ z_t: 's', z_st: 'Dial', ...ahead }), 'session'), { z_st: 'Dial' });
  const far = await sign({ z_t: 'a', ...issued(now + 3 * MINUTE) });
  await t.rejects(tokens.access(far), /"nbf"/, 'beyond a small difference');
});

t.test('no token outlives its expiry time', async (t) => {
  const { now, tokens, sign } = network();
  const times = { iat: now - MINUTE, exp: now };
  await t.rejects(tokens.access(await sign({ z_t: 'a', ...times })), /expired/);
  await t.rejects(tokens.service(await sign({ z_t: 's', z_st: 'Dial', ...times }), 'session'), /expired/);
  await t.rejects(tokens.totp(await sign({ z_t: 't', ...times }), 'session'), /expired/);
});

t.test('a one-time password is never entered in the future: it would outlive its time limit', async (t) => {
  const { clock, now, tokens, sign } = network();
  t.equal(await tokens.totp(await sign({ z_t: 't', iat: now - 5 }), 'session'), clock.now() - 5_000);
  t.equal(await tokens.totp(await sign({ z_t: 't', iat: now + 20 }), 'session'), clock.now());
});

t.test('each signer verifies only its own tokens, also after it has renewed its key', async (t) => {
  const { now, model, tokens, sign } = network();
  const claims = { z_t: 'a', exp: now + MINUTE };
  const other = signer(model, 'two');
  const [first, second] = [await sign(claims), await other(claims)];
  await t.resolves(tokens.access(first));
  await t.resolves(tokens.access(second));
  const renewed = signer(model, 'one');
  await t.rejects(tokens.access(first), /signature/);
  await t.resolves(tokens.access(await renewed(claims)));
  model.publicKeys.delete('two');
  await t.rejects(tokens.access(second), /unknown signing key two/);
});
