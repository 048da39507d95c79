// Rejections of the OIDC API that a client answers by trying again.

import fastify from 'fastify';
import t from 'tap';
import { ClosedError } from '#lib/errors.ts';
import { silentLog } from '#lib/log/log.ts';
import { VirtualClock } from '#lib/time/clock.ts';
import { BusyError } from '../../state/state.ts';
import { StoreWriteError } from '../../state/store/store.ts';
import type { ApiServices } from '../operations/context.ts';
import { readBodies } from '../server/bodies.ts';
import { serveOidc } from './server.ts';

const baseUrl = 'https://127.0.0.1:1280';

/** Status and error of a revocation that fails with `error`. */
async function answerTo(error: Error): Promise<unknown> {
  const services = {
    baseUrl,
    clock: new VirtualClock(),
    log: silentLog,
    state: {},
    cluster: { isEnabled: false },
    tokens: { verify: async () => ({ jti: 'a' }), isOidcIssuer: () => true },
    revocations: { revoke: () => Promise.reject(error) },
  } as unknown as ApiServices;
  const app = fastify();
  readBodies(app);
  app.addHook('onRequest', async ({ raw }) => {
    Object.assign(raw.socket, { getPeerX509Certificate: () => undefined });
  });
  serveOidc(app, services);
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const { statusCode, body } = await app.inject({ method: 'POST', url: '/oidc/revoke', headers, payload: 'token=a' });
  await app.close();
  return [statusCode, (JSON.parse(body) as { error: unknown }).error];
}

t.test('a client is asked to try again while changes cannot be accepted', async (t) => {
  t.same(await answerTo(new BusyError()), [429, 'temporarily_unavailable'], 'too many are queued');
  t.same(await answerTo(new StoreWriteError('the disk is full')), [503, 'temporarily_unavailable']);
  t.same(await answerTo(new ClosedError('the store')), [503, 'temporarily_unavailable'], 'the simulator stops');
  t.same(await answerTo(new Error('a fault')), [500, 'server_error']);
});
