// The connections of one thread share this context: a clock, memory for their bytes, the time of their writes, and the
// limits that protect the thread from clients. The assembly of a program creates one and passes it to everything that
// opens or accepts connections. Two routers in one process share nothing, and tests pass a context with their clock.

import type { Socket } from 'node:net';
import { BufferPool } from '../queue/buffer-pool.ts';
import { FairSlots } from '../queue/fair-slots.ts';
import type { IoThreads } from '../threads/io-threads.ts';
import { type Clock, SystemClock } from '../time/clock.ts';
import { ClientSockets } from './client-sockets.ts';
import { FlushSchedule } from './flush-schedule.ts';
import { UnauthenticatedCpu, type UnauthenticatedCpuInit } from './unauthenticated-cpu.ts';

const MIN_LINK_THREADS = 2;
/** Three quarters of the connections of a kind that a thread may carry: those of accepted clients keep some places. */
const MAX_STRANGERS_OF_THREAD = 192;

export interface IoContextInit {
  /** The clock of other programs: the lab of a simulator does not move it. */
  readonly clock: Clock;
  /** Default: real time, whatever the other clock shows. */
  readonly realClock?: Clock;
  /** Sockets that clients may cause; default: a part of the files that the process may open. */
  readonly maxClientSockets?: number;
  readonly threads?: IoThreads | undefined;
  /** The processor time of clients before they have proved who they are; default: that of a program's main thread. */
  readonly strangersCpu?: Pick<UnauthenticatedCpuInit, 'source' | 'all'>;
}

export class IoContext {
  readonly clock: Clock;
  /** For handshakes, processor time and turns of the event loop, which no lab moves. */
  readonly realClock: Clock;
  /** They carry connections with many bytes; undefined: this thread carries all. */
  readonly threads: IoThreads | undefined;
  /**
   * They carry the connections of links that bulk traffic uses. A single thread has its hands full with clients: on two
   * cores, the crossing of links as well costs a tenth of the throughput.
   */
  readonly linkThreads: IoThreads | undefined;
  /**
   * The connections that threads carry and whose clients are not accepted yet. A source with fewer displaces those of
   * others.
   */
  readonly strangersInThreads: FairSlots<Socket>;
  /** Memory for frames, payloads and writes. */
  readonly buffers = new BufferPool();
  /** When connections write what they queued. */
  readonly flushes: FlushSchedule;
  /** The sockets that clients cause: connections that the program accepts, and those that circuits open. */
  readonly clientSockets: ClientSockets;
  /** The processor time of clients before they have proved who they are. */
  readonly unauthenticatedCpu: UnauthenticatedCpu;
  /** The same for datagrams. Anybody can forge their sources, and must not use up the time of clients that connect. */
  readonly datagramCpu: UnauthenticatedCpu;

  constructor({ clock, realClock = new SystemClock(), maxClientSockets, threads, strangersCpu }: IoContextInit) {
    this.clock = clock;
    this.realClock = realClock;
    this.threads = threads;
    this.linkThreads = threads && threads.count >= MIN_LINK_THREADS ? threads : undefined;
    const evict = (socket: Socket) => void socket.destroy();
    this.strangersInThreads = new FairSlots(MAX_STRANGERS_OF_THREAD * (threads?.count ?? 0), evict);
    this.flushes = new FlushSchedule(realClock); // turns of the event loop exist in virtual time, too
    this.clientSockets = new ClientSockets(maxClientSockets);
    this.unauthenticatedCpu = new UnauthenticatedCpu({ clock: realClock, ...strangersCpu });
    this.datagramCpu = new UnauthenticatedCpu({ clock: realClock });
  }
}
