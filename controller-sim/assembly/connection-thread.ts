// The program of an I/O thread of a simulator.

import { IoContext } from '#lib/net/io-context.ts';
import { CPU_OF_THREAD } from '#lib/net/unauthenticated-cpu.ts';
import { hostCrossings } from '#lib/threads/thread-host.ts';
import { SystemClock } from '#lib/time/clock.ts';
import { ACCEPTED_CONNECTION } from '#wire/connection/threads/tls-crossing.ts';
import { carryTls } from '#wire/connection/threads/tls-in-thread.ts';

const io = new IoContext({ clock: new SystemClock(), strangersCpu: CPU_OF_THREAD });
hostCrossings({ [ACCEPTED_CONNECTION.name]: carryTls(io) }, io.buffers);
