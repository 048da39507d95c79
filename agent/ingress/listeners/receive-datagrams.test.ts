// Which datagrams of a socket reach the router.

import type { Socket } from 'node:dgram';
import { EventEmitter } from 'node:events';
import t from 'tap';
import { receiveDatagrams } from './receive-datagrams.ts';

t.test('datagrams from port 0, which cannot be answered, are dropped', async (t) => {
  const socket = new EventEmitter();
  const received: string[] = [];
  receiveDatagrams(socket as Socket, (data, { port }) => received.push(`${data} from ${port}`));
  for (const port of [0, 1, 65_535]) socket.emit('message', Buffer.from('x'), { address: '127.0.0.1', port });
  t.same(received, ['x from 1', 'x from 65535']);
});
