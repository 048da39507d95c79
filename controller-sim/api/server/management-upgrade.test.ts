// Upgrades to management channels that fail inside the simulator. test/api/management-channel.test.ts opens channels.

import type { IncomingMessage } from 'node:http';
import { duplexPair } from 'node:stream';
import { text } from 'node:stream/consumers';
import t from 'tap';
import { createLog, silentLog } from '#lib/log/log.ts';
import { VirtualClock } from '#lib/time/clock.ts';
import type { ApiServices } from '../operations/context.ts';
import { ManagementUpgrade } from './management-upgrade.ts';

t.test('a failure during the upgrade is answered with 500 and logged, and ends the connection', async (t) => {
  const lines: string[] = [];
  const log = createLog({ write: (line) => lines.push(line) });
  const services = { log, wireClock: new VirtualClock(), state: { subscribe: () => () => undefined } };
  const upgrade = new ManagementUpgrade(services as unknown as ApiServices);
  const broken = {
    get remoteAddress(): string {
      throw new Error('the socket is gone');
    },
  };
  const request = { url: '/fabric/v1/ws-api', headers: {}, socket: broken } as unknown as IncomingMessage;
  const [ours, theirs] = duplexPair();
  const statuses: number[] = [];
  upgrade.onUpgrade(request, ours, Buffer.alloc(0), (status) => statuses.push(status));
  t.match(await text(theirs), /^HTTP\/1\.1 500 Internal Server Error\r\n(?:.*\r\n)*connection: close\r\n/);
  t.same(statuses, [500]);
  t.equal(lines.length, 1);
  t.match(lines[0], /a management channel was not opened.*the socket is gone|the socket is gone.*not opened/);
  await upgrade.close();
});

t.test('a controller that does not follow the store opens no channels', async (t) => {
  const clock = new VirtualClock();
  const session = { id: 's', identityId: 'i', token: 'secret', isMfaRequired: false, requiredSignerId: null };
  const services = {
    log: silentLog,
    wireClock: new VirtualClock(),
    clock,
    sessionLifetime: 60_000,
    activity: { lastOf: () => clock.now(), note: () => undefined },
    unstored: { find: () => undefined },
    state: {
      subscribe: () => () => undefined,
      others: { isCurrent: async () => false },
      tables: {
        apiSession: {
          has: () => true,
          findBy: (_index: string, token: string) => (token === session.token ? session : undefined),
        },
        identity: { get: () => ({ id: 'i', name: 'operator', disabled: false, permissions: ['ops'] }) },
      },
    },
  };
  const upgrade = new ManagementUpgrade(services as unknown as ApiServices);
  const statusOf = async (token: string) => {
    const socket = { remoteAddress: '127.0.0.1', getPeerX509Certificate: () => undefined };
    const request = { url: '/fabric/v1/ws-api', headers: { 'zt-session': token }, socket };
    const [ours, theirs] = duplexPair();
    const statuses: number[] = [];
    upgrade.onUpgrade(request as unknown as IncomingMessage, ours, Buffer.alloc(0), (status) => statuses.push(status));
    const answer = await text(theirs);
    t.match(answer, new RegExp(`^HTTP/1\\.1 ${statuses[0]} .*\r\n(?:.*\r\n)*connection: close\r\n`));
    return statuses;
  };
  t.same(await statusOf('secret'), [503]);
  t.same(await statusOf('other'), [401], 'a stranger learns nothing about the store');
  await upgrade.close();
});
