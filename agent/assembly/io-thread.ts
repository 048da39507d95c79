// The program of an I/O thread of a router: what it carries, by kind.

import { BufferPool } from '#lib/queue/buffer-pool.ts';
import { hostCrossings } from '#lib/threads/thread-host.ts';
import { ClientInThread } from '../xgress/clients/client-in-thread.ts';
import { MOVED_CLIENT, type MovedClientData } from '../xgress/clients/moved-client.ts';

const buffers = new BufferPool();

hostCrossings(
  { [MOVED_CLIENT]: (crossing, data: MovedClientData) => void new ClientInThread(crossing, data, buffers) },
  () => buffers.clear(),
);
