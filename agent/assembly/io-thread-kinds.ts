// What an I/O thread of a router carries, by kind.

import { IoContext } from '#lib/net/io-context.ts';
import type { CrossingKind } from '#lib/threads/thread-host.ts';
import { SystemClock } from '#lib/time/clock.ts';
import { type ThreadTlsData, TLS_CONNECTION } from '#wire/threads/tls-crossing.ts';
import { TlsInThread } from '#wire/threads/tls-in-thread.ts';
import { ClientInThread } from '../xgress/clients/client-in-thread.ts';
import { MOVED_CLIENT, type MovedClientData } from '../xgress/clients/moved-client.ts';

interface IoThreadKinds {
  readonly kinds: Readonly<Record<string, CrossingKind>>;
  /** No connection is left. */
  onIdle(): void;
}

/** Creates the context that all connections of the thread share. */
export function ioThreadKinds(): IoThreadKinds {
  const io = new IoContext({ clock: new SystemClock() });
  return {
    kinds: {
      [MOVED_CLIENT]: (crossing, data: MovedClientData) => void new ClientInThread(crossing, data, io.buffers),
      [TLS_CONNECTION]: (crossing, data: ThreadTlsData) => void new TlsInThread(crossing, data, io),
    },
    onIdle: () => io.buffers.clear(),
  };
}
