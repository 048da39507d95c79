// The kinds of connections that an I/O thread of a router carries.

import type { IoContext } from '#lib/net/io-context.ts';
import type { CrossingKind } from '#lib/threads/thread-host.ts';
import { ACCEPTED_CONNECTION, LINK_CONNECTION } from '#wire/connection/threads/tls-crossing.ts';
import { carryTls } from '#wire/connection/threads/tls-in-thread.ts';
import { ClientInThread } from '../xgress/clients/client-in-thread.ts';
import { MOVED_CLIENT, type MovedClientData } from '../xgress/clients/moved-client.ts';

/** @param io The context that all connections of the thread share. */
export function ioThreadKinds(io: IoContext): Readonly<Record<string, CrossingKind>> {
  const tls = carryTls(io);
  return {
    [MOVED_CLIENT.name]: (crossing, data: MovedClientData) => void new ClientInThread(crossing, data, io.buffers),
    [LINK_CONNECTION.name]: tls,
    [ACCEPTED_CONNECTION.name]: tls,
  };
}
