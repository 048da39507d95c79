// The part of a moved client in the thread, without a thread: what it tells when the socket closes.

import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import t from 'tap';
import { copyDescriptor } from '#lib/net/descriptor.ts';
import { whyNoSystemLibrary } from '#lib/process/system-library.ts';
import { BufferPool } from '#lib/queue/buffer-pool.ts';
import { type Crossing, CrossingRecord } from '#lib/threads/crossings.ts';
import { crossing } from '../../../test/support/rooms/crossing.ts';
import { ClientInThread } from './client-in-thread.ts';

const skip = whyNoSystemLibrary() ?? false;

function send({ sent }: Crossing, kind: number, data = Buffer.alloc(0)): boolean {
  const room = sent.reserve(data.length);
  if (room) sent.commit(kind, data.copy(room));
  return room !== undefined;
}

async function connection(): Promise<{ outside: Socket; descriptor: number }> {
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const outside = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  const [inside] = (await once(server, 'connection')) as [Socket];
  const descriptor = copyDescriptor(inside) ?? -1;
  inside.destroy();
  server.close();
  return { outside, descriptor };
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise(setImmediate);
}

t.test(
  'the end of the client reaches a main thread that had no room for it, before the socket is closed',
  { skip },
  async (t) => {
    const { outside, descriptor } = await connection();
    const { main, thread, messages } = crossing();
    while (send(thread, CrossingRecord.Data));
    thread.publish();
    new ClientInThread(thread, { descriptor, maxPayload: 1_000, streams: undefined }, new BufferPool());
    send(main, CrossingRecord.End);
    main.publish();
    outside.end();
    await once(outside.resume(), 'close');
    await turns(20);
    t.same(messages, []);
    let last: number = 0;
    for (let turn = 0; turn < 1_000 && messages.length === 0; turn++) {
      while (main.received.next()) last = main.received.kind;
      main.release();
      await turns(1);
    }
    while (main.received.next()) last = main.received.kind;
    t.same(messages, [{ type: 'closed', hasEnd: true }]);
    t.equal(last, CrossingRecord.End);
  },
);
