// The program of an I/O thread of a router.

import { IoContext } from '#lib/net/io-context.ts';
import { hostCrossings } from '#lib/threads/thread-host.ts';
import { SystemClock } from '#lib/time/clock.ts';
import { ioThreadKinds } from './io-thread-kinds.ts';

const io = new IoContext({ clock: new SystemClock() });
hostCrossings(ioThreadKinds(io), io.buffers);
