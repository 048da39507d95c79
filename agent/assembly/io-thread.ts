// The program of an I/O thread of a router: what it carries, by kind.

import { hostCrossings } from '#lib/threads/thread-host.ts';
import { ClientInThread } from '../xgress/clients/client-in-thread.ts';
import { MOVED_CLIENT, type MovedClientData } from '../xgress/clients/moved-client.ts';

hostCrossings({
  [MOVED_CLIENT]: (crossing, data: MovedClientData) => void new ClientInThread(crossing, data),
});
