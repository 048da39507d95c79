// UDP has no connections; a session takes their place: all datagrams between one source and one destination belong to
// it. Each session is a circuit. It ends with its circuit, or after an idle timeout (reference fact: tunnel, sections 2
// and 3.7).

import { background } from '#lib/background.ts';
import { ClosedError, describeError } from '#lib/errors.ts';
import type { Log } from '#lib/log/log.ts';
import type { IoContext } from '#lib/net/io-context.ts';
import type { UnauthenticatedSocket } from '#lib/net/unauthenticated-cpu.ts';
import { Budget } from '#lib/queue/budget.ts';
import { FairSlots } from '#lib/queue/fair-slots.ts';
import { DatagramClient, type DatagramPort } from '../../xgress/clients/datagram-client.ts';
import { type IdleLimits, IdleSweeper } from '../../xgress/clients/idle-sweeper.ts';
import { waitingClients } from './waiting-clients.ts';

export interface DatagramSessionsComponents {
  io: Pick<IoContext, 'clock' | 'datagramCpu'>;
  log: Log;
  /** False while the router drains. */
  acceptsCircuits(): boolean;
}

export interface NewSession {
  readonly key: string;
  /** The source of its datagrams, for shares. */
  readonly source: string;
  readonly port: DatagramPort;
  /** Creates the circuit and attaches the client to it. */
  serve(client: DatagramClient, signal: AbortSignal): Promise<void>;
}

/**
 * Sessions of one listener. At the limit, the source with most loses its oldest to a source with fewer; else the
 * session that is idle longest is evicted if it has been idle for QUIET.
 */
const MAX_SESSIONS = 4_096;
/**
 * Bytes of all sessions that wait for their circuits, of a listener and of one source; further datagrams are dropped.
 */
const WAITING_BYTES = { max: 32 * 1024 * 1024, maxOfSource: 16 * 1024 * 1024 };
/** All sessions of all listeners share one part of the buffer budget: they share the descriptors of the listeners. */
const HOLDER = 'udp sessions';
/** Counted for a session before its circuit exists: messages to the controller and back. */
const CIRCUIT_MS = 0.4;
/** Milliseconds without a datagram after which a session may be evicted. */
const QUIET = 10_000;

export class DatagramSessions {
  readonly #components: DatagramSessionsComponents;
  readonly #name: string;
  readonly #sweeper: IdleSweeper;
  readonly #abort = new AbortController();
  readonly #sessions = new Map<string, DatagramClient>();
  /** The same by source. */
  readonly #fair = new FairSlots<DatagramClient>(Number.POSITIVE_INFINITY, (client) => client.onIdle());
  readonly #waiting = waitingClients();
  readonly #waitingBytes = new Budget(WAITING_BYTES);
  /** Until then no session at the limit can be idle long enough: a flood must not look at all of them each time. */
  #fullUntil = 0;
  /** Datagrams dropped for lack of a session since the last log line. */
  #rejected = 0;

  constructor(components: DatagramSessionsComponents, name: string, limits: IdleLimits) {
    this.#components = components;
    this.#name = name;
    this.#sweeper = new IdleSweeper(components.io.clock, limits);
  }

  get size(): number {
    return this.#sessions.size;
  }

  get(key: string): DatagramClient | undefined {
    return this.#sessions.get(key);
  }

  /** Opens a session; returns undefined if it is rejected; the caller must drop the datagram. */
  open({ key, source, port, serve }: NewSession): DatagramClient | undefined {
    const { io, log } = this.#components;
    const { clock, datagramCpu } = io;
    const isServing = !this.#abort.signal.aborted && this.#components.acceptsCircuits();
    const hasRoom = isServing && this.#hasRoom(source);
    const place = hasRoom ? this.#waiting.take(source) : undefined;
    if (!place) {
      const full = hasRoom ? 'too many wait for a circuit' : 'too many are open';
      const cause = isServing ? full : 'the router accepts no new circuits';
      if (this.#rejected++ === 0)
        log.warn({ listener: this.#name, sessions: this.size }, `UDP sessions are rejected: ${cause}`);
      port.close();
      return undefined;
    }
    this.#rejected = 0;
    const queue = {
      acquire: (bytes: number) => this.#waitingBytes.acquire(source, bytes),
      release: (bytes: number) => this.#waitingBytes.release(source, bytes),
    };
    const sender: UnauthenticatedSocket = { remoteAddress: source };
    let prevent: (() => boolean) | undefined;
    const onClosed = () => {
      this.#remove(key, client);
      if (prevent?.()) place.release();
    };
    const client: DatagramClient = new DatagramClient({ port, clock, log, holder: HOLDER, queue, onClosed });
    this.#sessions.set(key, client);
    this.#fair.add(client, source);
    this.#sweeper.add(client);
    const start = () => {
      const served = serve(client, AbortSignal.any([this.#abort.signal, place.displaced]))
        .then(() => datagramCpu.authenticated(sender))
        .catch((error: unknown) => {
          log.warn({ listener: this.#name, source: key, error: describeError(error) }, 'UDP session ended: no circuit');
          client.closed('cut');
        })
        .finally(() => place.release());
      background(log, 'UDP session', served);
    };
    prevent = datagramCpu.run(sender, start, CIRCUIT_MS);
    return client;
  }

  /** Opens no further sessions. Sessions with a circuit end with it. */
  close(): void {
    this.#abort.abort(new ClosedError('the listener'));
  }

  /** Ends all sessions. */
  end(): void {
    this.close();
    for (const client of [...this.#sessions.values()]) client.onIdle();
  }

  #hasRoom(source: string): boolean {
    if (this.#sessions.size < MAX_SESSIONS) return true;
    if (this.#fair.evictFor(source)) return true;
    const now = this.#components.io.clock.monotonic();
    if (now < this.#fullUntil) return false;
    let quietest: DatagramClient | undefined;
    for (const client of this.#sessions.values())
      if (!quietest || client.lastActive < quietest.lastActive) quietest = client;
    if (!quietest) return false;
    this.#fullUntil = quietest.lastActive + QUIET;
    if (now < this.#fullUntil) return false;
    quietest.onIdle();
    return true;
  }

  #remove(key: string, client: DatagramClient): void {
    this.#sweeper.delete(client);
    this.#fair.delete(client);
    if (this.#sessions.get(key) === client) this.#sessions.delete(key);
  }
}
