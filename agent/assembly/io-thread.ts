// The program of an I/O thread of a router.

import { IoContext } from '#lib/net/io-context.ts';
import { CPU_OF_THREAD } from '#lib/net/unauthenticated-cpu.ts';
import { hostCrossings } from '#lib/threads/thread-host.ts';
import { SystemClock } from '#lib/time/clock.ts';
import { ioThreadKinds } from './io-thread-kinds.ts';

const io = new IoContext({ clock: new SystemClock(), strangersCpu: CPU_OF_THREAD });
hostCrossings(ioThreadKinds(io), io.buffers);
