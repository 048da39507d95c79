// Valid certificates and sessions of SDK clients, and the events that end their validity.

import { X509Certificate } from 'node:crypto';
import { create, fromBinary } from '@bufbuild/protobuf';
import t from 'tap';
import { silentLog } from '#lib/log/log.ts';
import { VirtualClock } from '#lib/time/clock.ts';
import { sha1Fingerprint } from '#pki/certificates.ts';
import {
  DataState_Action,
  DataState_ChangeSetSchema,
  DataState_IdentitySchema,
  DataState_RevocationSchema,
  DataStateSchema,
} from '#wire/gen/edge_control_pb.js';
import { type Authority, issue, makeAuthority } from '../../test/support/clients/certificates.ts';
import { type ApiSession, ApiSessions } from './api-session.ts';
import { DataModel } from './data-model.ts';
import type { LegacySession } from './legacy-sessions.ts';
import { encodedParts } from './model-state.ts';
import { type AccessClaims, TokenError } from './tokens.ts';

const DAY = 86_400_000;
const NEVER_ABORTED = new AbortController().signal;

async function sessions() {
  const clock = new VirtualClock(Date.now());
  const network = await makeAuthority('network');
  const known = new Map<string, LegacySession>();
  const model = new DataModel(silentLog);
  model.identities.set('me', create(DataState_IdentitySchema, { id: 'me', name: 'me' }));
  const legacySessions = { get: (token: string) => known.get(token) };
  const claims: AccessClaims = {
    sub: 'me',
    z_asid: 'session',
    exp: clock.now() / 1000 + 600,
    iat: clock.now() / 1000,
    jti: 'token',
  };
  const tokens = { access: async () => claims };
  const roots = [new X509Certificate(network.certificate.toString('pem'))];
  const checked = new ApiSessions({ clock, model, legacySessions, tokens, identity: { roots } });
  return { clock, network, known, model, checked, claims, tokens };
}

const certificate = async (authority: Authority, options: Parameters<typeof issue>[2] = {}) =>
  new X509Certificate((await issue(authority, 'client', options)).pem);

const session = (fields: Partial<ApiSession> = {}): ApiSession => ({
  id: 'session',
  identityId: 'me',
  token: 'token',
  fingerprints: new Set(),
  controllerId: 'c',
  claims: undefined,
  ...fields,
});

t.test(
  'a certificate is valid if the session lists it, or if the network issued it for the identity or the session',
  async (t) => {
    const { network, checked, claims } = await sessions();
    const elsewhere = await makeAuthority('elsewhere');
    const spiffe = (path: string) => ({ uris: [`spiffe://network/${path}`] });
    const mine = await certificate(network, spiffe('identity/me'));
    const ofSession = await certificate(network, spiffe('identity/me/apiSession/session'));
    const deeper = await certificate(network, spiffe('identity/me/apiSession/session/apiSessionCertificate/x'));
    const listed = await certificate(elsewhere);
    const fingerprints = new Set([sha1Fingerprint(listed)]);
    for (const good of [mine, ofSession, deeper]) t.doesNotThrow(() => checked.checkCertificate(session(), [good]));
    t.doesNotThrow(() => checked.checkCertificate(session({ fingerprints }), [listed]));
    const bad: [string, X509Certificate[]][] = [
      ['none', []],
      ['of another identity', [await certificate(network, spiffe('identity/you'))]],
      ['of another session', [await certificate(network, spiffe('identity/me/apiSession/other'))]],
      ['of a router', [await certificate(network, spiffe('router/me'))]],
      ['without a name', [await certificate(network)]],
      ['of another authority that names the identity', [await certificate(elsewhere, spiffe('identity/me'))]],
      ['with more path', [await certificate(network, spiffe('identity/me/x'))]],
    ];
    for (const [name, presented] of bad)
      t.throws(() => checked.checkCertificate(session(), presented), { code: 'SESSION_REJECTED' }, name);

    const expired = await certificate(network, { ...spiffe('identity/me'), to: Date.now() - DAY });
    const asListed = { fingerprints: new Set([sha1Fingerprint(expired)]) };
    t.doesNotThrow(
      () => checked.checkCertificate(session(asListed), [expired]),
      'a legacy session outlives its certificate',
    );
    t.throws(
      () => checked.checkCertificate(session({ ...asListed, claims }), [expired]),
      /expired/,
      'a token does not',
    );
    t.doesNotThrow(() =>
      checked.checkCertificate(session({ ...asListed, claims: { ...claims, z_cae: true } }), [expired]),
    );
    const late = await certificate(network, { ...spiffe('identity/me/apiSession/session'), to: Date.now() - DAY });
    t.throws(() => checked.checkCertificate(session(), [late]), /expired/);
  },
);

t.test('a lookup waits, within bounds, for a session that no controller has pushed yet', async (t) => {
  const { clock, known, checked } = await sessions();
  const found = checked.find('late', 5_000, NEVER_ABORTED);
  await clock.advance(1_500);
  known.set('late', { token: 'late', id: 's', identityId: 'me', fingerprints: new Set(), controllerId: 'c' });
  await clock.advance(1_000);
  t.match(await found, { id: 's', controllerId: 'c' });
  const missing = checked.find('never', 5_000, NEVER_ABORTED);
  missing.catch(() => undefined);
  await clock.advance(5_001);
  await t.rejects(missing, /unknown to all controllers/);
  await t.rejects(checked.find('', 5_000, NEVER_ABORTED), /presents no API session/, 'at once');
  const gone = new AbortController();
  const abandoned = checked.find('never', 5_000, gone.signal);
  abandoned.catch(() => undefined);
  gone.abort(new Error('the client is gone'));
  await t.rejects(abandoned, /the client is gone/);
  t.same(clock.timers(), [], 'no wait is left');
});

t.test('a lookup waits, within bounds, for the identity of a session and for the key of its token', async (t) => {
  const { clock, known, model, checked, tokens } = await sessions();
  known.set('legacy', { token: 'legacy', id: 's', identityId: 'new', fingerprints: new Set(), controllerId: 'c' });
  const arrive = (id: string) => model.identities.set(id, create(DataState_IdentitySchema, { id, name: id }));
  const legacy = checked.find('legacy', 5_000, NEVER_ABORTED);
  await clock.advance(1_500);
  arrive('new');
  await clock.advance(1_000);
  t.match(await legacy, { identityId: 'new' });

  model.identities.clear();
  const signed = checked.find('ey', 5_000, NEVER_ABORTED);
  await clock.advance(1_500);
  arrive('me');
  await clock.advance(1_000);
  t.match(await signed, { identityId: 'me' });

  const verify = tokens.access;
  tokens.access = () => Promise.reject(new TokenError('unknown signing key', { retriable: true }));
  const ofNewController = checked.find('ey', 5_000, NEVER_ABORTED);
  await clock.advance(1_500);
  tokens.access = verify;
  await clock.advance(1_000);
  t.match(await ofNewController, { identityId: 'me' });

  tokens.access = () => Promise.reject(new TokenError('expired'));
  await t.rejects(checked.find('ey', 5_000, NEVER_ABORTED), /invalid/, 'no data can make this token valid');
  model.identities.set('me', create(DataState_IdentitySchema, { id: 'me', disabled: true }));
  tokens.access = verify;
  await t.rejects(checked.find('ey', 5_000, NEVER_ABORTED), /disabled/);
  t.same(clock.timers(), [], 'no wait is left');
});

t.test('a session ends with its token, its identity, its removal or its revocation', async (t) => {
  const { clock, known, model, checked, claims } = await sessions();
  const mine = session({ controllerId: undefined, claims });
  t.equal(checked.endOf(mine), undefined);
  const revoke = (id: string, seconds = 0) =>
    model.revocations.set(id, create(DataState_RevocationSchema, { id, issuedBefore: { seconds: BigInt(seconds) } }));
  for (const id of ['session', 'token']) {
    revoke(id);
    t.match(checked.endOf(mine), /revoked/, id);
    model.revocations.clear();
  }
  revoke('me', Math.floor(clock.now() / 1000) - 10);
  t.equal(checked.endOf(mine), undefined, 'the token is newer than the revocation of its identity');
  revoke('me', Math.floor(clock.now() / 1000) + 1);
  t.match(checked.endOf(mine), /revoked/);
  model.revocations.set('me', create(DataState_RevocationSchema, { id: 'me', type: 'IDENTITY' }));
  t.match(checked.endOf(mine), /revoked/, 'a revocation without a time applies to all tokens');
  model.revocations.clear();
  await clock.advance(600_000);
  t.match(checked.endOf(mine), /expired/);

  t.match(checked.endOf(session()), /removed/);
  known.set('token', { token: 'token', id: 'session', identityId: 'me', fingerprints: new Set(), controllerId: 'c' });
  t.equal(checked.endOf(session()), undefined);
  model.identities.set('me', create(DataState_IdentitySchema, { id: 'me', disabled: true }));
  t.match(checked.endOf(session()), /disabled/);
  model.identities.clear();
  t.match(checked.endOf(session()), /not found/);
});

t.test(
  'a session stays revoked until the revocation expires, also if a restarted controller no longer sends it',
  async (t) => {
    const { clock, model, checked, claims } = await sessions();
    const now = Math.floor(clock.now() / 1000);
    const seconds = (value: number) => ({ seconds: BigInt(value) });
    const revocation = (fields: { type: string; id: string; issuedBefore?: { seconds: bigint } }) =>
      ({ case: 'revocation', value: { expiresAt: seconds(now + 300), ...fields } }) as const;
    const state = (timelineId: string) =>
      create(DataStateSchema, {
        endIndex: 5n,
        timelineId,
        events: [{ action: DataState_Action.CREATE, model: { case: 'identity', value: { id: 'me' } } }],
      });
    const change = (action: DataState_Action, made: ReturnType<typeof revocation>) =>
      model.change(create(DataState_ChangeSetSchema, { index: model.index + 1n, changes: [{ action, model: made }] }));
    const mine = session({ controllerId: undefined, claims });
    const all = [
      revocation({ type: 'API_SESSION', id: 'session' }),
      revocation({ type: 'JTI', id: 'token' }),
      revocation({ type: 'IDENTITY', id: 'me', issuedBefore: seconds(now + 1) }),
    ];
    for (const each of all) {
      model.replace(state('line'), clock.now());
      t.equal(checked.endOf(mine), undefined);
      change(DataState_Action.CREATE, each);
      for (let restart = 0; restart < 2; restart++) model.replace(state('line'), clock.now());
      t.match(checked.endOf(mine), /revoked/, each.value.type);
      t.equal(model.revocations.size, 0, 'a comparison with the controller finds no difference');
      const reloaded = new DataModel(silentLog);
      reloaded.replace(fromBinary(DataStateSchema, Buffer.concat([...encodedParts(model, '')])));
      t.ok(reloaded.revocation(each.value.id), 'also after a restart of the router');
      change(DataState_Action.DELETE, each);
      t.equal(checked.endOf(mine), undefined, 'the controller deleted it');
    }
    change(DataState_Action.CREATE, revocation({ type: 'IDENTITY', id: 'me' }));
    model.replace(state('line'), clock.now());
    t.equal(checked.endOf(mine), undefined, 'one without a time would reject later tokens, too');
    for (const each of all) change(DataState_Action.CREATE, each);
    model.replace(state('another'), clock.now());
    t.equal(checked.endOf(mine), undefined, 'of another history');
    for (const each of all) change(DataState_Action.CREATE, each);
    model.replace(state('another'), clock.now() + 300_000);
    t.equal(model.allRevocations().length, 0, 'expired');
  },
);
