// A stream is sent in payloads as large as its end and its first link want them.

import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import t from 'tap';
import { silentLog } from '#lib/log/log.ts';
import { IoContext } from '#lib/net/io-context.ts';
import { VirtualClock } from '#lib/time/clock.ts';
import type { Xgress } from '../xgress.ts';
import { SocketClient } from './socket-client.ts';

const KIB = 1024;

/** Returns the lengths of the payloads of one read. */
async function payloadsOf(length: number, { writeLimit, maxPayload }: Record<string, number>) {
  const lengths: number[] = [];
  const read: Buffer[] = [];
  const stream = Object.assign(new Duplex({ read: () => undefined }), { setNoDelay: () => undefined });
  const client = new SocketClient({
    socket: stream as unknown as Socket,
    reset: () => undefined,
    halfClose: true,
    ...(maxPayload && { maxPayload }),
    io: new IoContext({ clock: new VirtualClock() }),
    log: silentLog,
  });
  const xgress = {
    writeLimit,
    write: (data: Buffer) => {
      lengths.push(data.length);
      read.push(Buffer.from(data));
      return true;
    },
  };
  client.attach(xgress as unknown as Xgress);
  client.writable();
  const data = Buffer.from(Array.from({ length }, (_, index) => index % 251));
  stream.push(data);
  await new Promise(setImmediate);
  t.ok(Buffer.concat(read).equals(data), 'nothing is lost or changed');
  return lengths;
}

t.test('a read is one payload, if nobody wants smaller ones', async (t) => {
  t.same(await payloadsOf(20 * KIB, { writeLimit: Number.POSITIVE_INFINITY }), [20 * KIB]);
});

t.test('an end may limit payloads, and so may the first link, which gets equal ones', async (t) => {
  t.same(await payloadsOf(40 * KIB, { writeLimit: Number.POSITIVE_INFINITY }), [32 * KIB, 8 * KIB]);
  t.same(await payloadsOf(40 * KIB, { writeLimit: 9 * KIB, maxPayload: 64 * KIB }), new Array(5).fill(8 * KIB));
});
