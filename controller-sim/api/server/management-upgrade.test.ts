// Upgrades to management channels that fail inside the simulator. test/api/management-channel.test.ts opens channels.

import type { IncomingMessage } from 'node:http';
import { duplexPair } from 'node:stream';
import { text } from 'node:stream/consumers';
import t from 'tap';
import { createLog } from '#lib/log/log.ts';
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
