// The connections of a channel as one path to the peer: reads what the system knows about each, bounds the bytes that
// it holds, and selects the connection for a frame. Frames without room wait in their lane.
//
//   bulk ──► the preferred connection, if it has room in its congestion window, else the next: one connection is kept
//            busy, and the others join where it cannot carry everything, on paths with losses
//   light ─► the connection with the least bytes on the way, also one that usually carries acknowledgements: such
//            frames hardly add to a queue, pass at once, and do not wait for lost packets of bulk traffic
//
//   other ─► the connection with the fewest bytes of its own: while no bulk traffic uses the path, and where the system
//            does not tell its state (no Linux, an older Node, streams inside other streams)
//
// Connections that I/O threads carry come first for bulk traffic and what follows it, and last for the rest: each way
// through a thread costs time, and leaves this thread more of its own.
//
// A connection has stalled while the peer's system acknowledges nothing: it is avoided until it does. Whether it is
// closed is up to the limit of its writes (connection/write-watch.ts), and whether the peer's program lives, to
// heartbeats (channel/heartbeat.ts).

import { type TcpSensor, type TcpState, unknownTcpState } from '#lib/net/tcp-info.ts';
import type { Clock } from '#lib/time/clock.ts';
import type { Underlay } from '../connection/underlay.ts';
import { type CongestionChange, CongestionChoice } from './congestion-choice.ts';
import { PathController, type PathPhase } from './path-controller.ts';

/** Milliseconds for which measured values are used: reading them takes a microsecond for each connection. */
const VALID = 0.3;
/** Bytes beyond its congestion window that a connection gets: it needs some to see that its window limits it. */
const SLACK = 16 * 1024;
/** Bytes, or share of the window, that a connection may have on the way for light frames to pass the window. */
const LIGHT_LOAD = 16 * 1024;
const LIGHT_SHARE = 1 / 8;
/** Bytes more that a connection may have on the way if the frame joins others there, in one system call. */
const GATHERING_BONUS = 4 * 1024;
/** A connection whose peer acknowledges nothing for so many milliseconds, and so many round trips, is not used. */
const STALLED_AFTER = 500;
const STALLED_ROUND_TRIPS = 4;
/** Milliseconds of writes that share a mark, and marks after which the delivered ones are forgotten. */
const MARK_INTERVAL = 1;
const MAX_MARKS = 256;
/**
 * Frames of bulk traffic are limited to this share of the bytes that the path carries in the allowed wait, because one
 * frame may exceed the window; and least bytes of the limit.
 */
const FRAME_SHARE = 1 / 4;
const MIN_FRAME_LIMIT = 8 * 1024;
/** Milliseconds, and shortest round trips, between two questions for the time that bytes need on the way there. */
const ASK_INTERVAL = 10;
const ASK_ROUND_TRIPS = 1 / 4;
/** A connection in a thread counts as loaded with so many bytes more, for traffic that prefers this thread. */
const THREAD_LOAD = 32 * 1024;
/** Milliseconds after a retransmission for which it does not. */
const EVEN_TIME = 10_000;
/** Milliseconds for which a path counts as busy. */
const BUSY_TIME = 1_000;

export interface PathInspection {
  readonly phase: PathPhase;
  /** Why pace and window are as they are. */
  readonly reason: string;
  /** Bytes per second: what the path carries, and what may leave; undefined if only the window counts. */
  readonly rate: number;
  readonly pace: number | undefined;
  /** Milliseconds. */
  readonly roundTrip: number;
  readonly minRoundTrip: number | undefined;
  /** Time that bytes of this direction waited in queues, and the deviation that the path adds by itself. */
  readonly queueWait: number;
  readonly jitter: number;
  readonly allowedWait: number;
  /** Bytes that may be on their way, and bytes that are. */
  readonly window: number;
  readonly onTheWay: number;
  readonly connections: readonly (TcpState & {
    readonly type: string;
    readonly congestionControl: string | undefined;
    readonly isStalled: boolean;
    /** An I/O thread carries it. */
    readonly isThreaded: boolean;
  })[];
}

/** Writes that began within a millisecond. */
interface Mark {
  /** Monotonic time of the first one. */
  readonly at: number;
  /** Bytes of the connection that were written up to the last one. */
  written: number;
}

/** The connections that a lane may use. */
export interface LaneConnections {
  /** Types of underlays, best first. */
  readonly types: readonly string[];
  /** Equally loaded connections take turns. */
  readonly takesTurns?: boolean;
  /** Frames join others that wait for the same write, on a connection of any of the types. */
  readonly gathers?: boolean;
  /** While bulk traffic uses the path in either direction, frames use the connections for bulk of any of the types. */
  readonly followsBulk?: boolean;
}

interface Connection {
  readonly underlay: Underlay;
  /** Undefined where the system does not tell its state, or nobody needs it. */
  readonly sensor: TcpSensor | undefined;
  readonly state: TcpState;
  /** Bytes that were written and not acknowledged. */
  load: number;
  /** Equally loaded connections take turns, so that a silent one does not get all light traffic. */
  turn: number;
  /** Bytes that were written since the start. */
  written: number;
  /** The writes that the peer may not have received, in order. */
  readonly marks: Mark[];
  /** Monotonic time of the last progress. */
  movedAt: number;
  isStalled: boolean;
}

const NONE: readonly Connection[] = [];

export interface ChannelPathComponents {
  readonly clock: Clock;
  /** The current underlays of the channel. */
  readonly underlays: ReadonlySet<Underlay>;
  /** Whether lanes of flows need the system's state of the connections. */
  readonly hasFlows: boolean;
  /** Losses limit the path, or no longer do, and its connections change their congestion control, or may not. */
  readonly onCongestionChange?: ((change: CongestionChange) => void) | undefined;
}

export class ChannelPath {
  readonly #controller = new PathController();
  readonly #choice: CongestionChoice;
  readonly #clock: Clock;
  readonly #underlays: ReadonlySet<Underlay>;
  readonly #hasFlows: boolean;
  readonly #connections = new Map<Underlay, Connection>();
  /** Those in threads first. */
  #byType = new Map<string, Connection[]>();
  #threaded: readonly Connection[] = NONE;
  #ofThisThread: ReadonlyMap<string, readonly Connection[]> = new Map();
  #readAt = Number.NEGATIVE_INFINITY;
  /** Bytes on the path, or about to be, except on stalled connections. */
  #load = 0;
  /** Bytes that closed connections have delivered. */
  #delivered = 0;
  /** Bytes that closed connections have sent, and sent again. */
  #sent = 0;
  #sentAgain = 0;
  /** When bytes last waited for the congestion windows of all connections. */
  #limitedAt = Number.NEGATIVE_INFINITY;
  #isKnown = false;
  /** Monotonic time of the last frame of bulk traffic that arrived. */
  #bulkArrivedAt = Number.NEGATIVE_INFINITY;
  /** Index of the connection that bulk traffic uses first, in the order of the connections. */
  #preferred = 0;
  #turn = 0;
  /** Monotonic time until which connections in threads are as good as others: one of these may lose what it gets. */
  #evenUntil = Number.NEGATIVE_INFINITY;
  #busyAt = Number.NEGATIVE_INFINITY;
  #askedAt = Number.NEGATIVE_INFINITY;
  /** The peer tells when questions arrive. */
  #answers = true;

  constructor({ clock, underlays, hasFlows, onCongestionChange }: ChannelPathComponents) {
    this.#clock = clock;
    this.#underlays = underlays;
    this.#hasFlows = hasFlows;
    this.#choice = new CongestionChoice(onCongestionChange);
  }

  /** Whether the system tells the state of all connections. */
  get isKnown(): boolean {
    return this.#isKnown;
  }

  /**
   * Whether it bounds the bytes on their way. Within a machine or a rack, the path is faster than its ends: bytes wait
   * in the receive buffers of the other end, which this side does not see.
   */
  get isPaced(): boolean {
    return this.#isKnown && !this.#controller.isNearby;
  }

  /** Bytes of a frame of bulk traffic that is short enough for the path; Infinity if it does not bound bytes. */
  get frameLimit(): number {
    const { rate, allowedWait } = this.#controller;
    if (!this.isPaced || rate === 0) return Number.POSITIVE_INFINITY;
    return Math.max(MIN_FRAME_LIMIT, rate * allowedWait * FRAME_SHARE);
  }

  /** Call this when the underlays have changed. */
  update(): void {
    for (const [underlay, { sensor, state }] of this.#connections) {
      if (this.#underlays.has(underlay)) continue;
      this.#delivered += state.delivered;
      this.#sent += state.sent;
      this.#sentAgain += state.sentAgain;
      if (sensor) this.#choice.remove(sensor);
      this.#connections.delete(underlay);
    }
    for (const underlay of this.#underlays) this.#add(underlay);
    const connections = [...this.#connections.values()].toSorted(
      (one, other) => Number(other.underlay.isThreaded) - Number(one.underlay.isThreaded),
    );
    this.#threaded = connections.filter(({ underlay }) => underlay.isThreaded);
    this.#byType = Map.groupBy(connections, ({ underlay }) => underlay.type);
    const others = connections.filter(({ underlay }) => !underlay.isThreaded);
    this.#ofThisThread = Map.groupBy(others, ({ underlay }) => underlay.type);
    this.#isKnown = connections.length > 0 && connections.every(({ sensor }) => sensor);
    this.#readAt = Number.NEGATIVE_INFINITY;
  }

  /** Whether bulk traffic has used the path lately. Else every connection is as good as another. */
  get isBusy(): boolean {
    return this.#clock.monotonic() - this.#busyAt < BUSY_TIME;
  }

  /**
   * The connection for a frame of a circuit with many bytes; undefined if it must wait.
   *
   * @param isOrdered The receiver does not order frames: all of them use the same connection.
   */
  bulk(types: readonly string[], isOrdered = false): Underlay | undefined {
    this.#read();
    this.#busyAt = this.#readAt;
    if (this.#load >= this.#controller.window || !this.#controller.isInPace(this.#readAt)) {
      this.#controller.waiting(true);
      return undefined;
    }
    const usable = this.#usableForBulk(types);
    for (let index = 0; index < (isOrdered ? Math.min(1, usable.length) : usable.length); index++) {
      const connection = usable[isOrdered ? 0 : (this.#preferred + index) % usable.length] as Connection;
      const { underlay, load, state, isStalled } = connection;
      if (!isStalled && load < state.congestionWindow + SLACK && underlay.writable) return underlay;
    }
    this.#limitedAt = this.#readAt;
    this.#controller.waiting(false);
    return undefined;
  }

  /**
   * Bytes were delivered to the peer's system, but not to the peer: bulk traffic continues on the next connection. A
   * relay between both may hold the bytes of one connection.
   */
  preferNext(): void {
    this.#preferred++;
    this.#evenUntil = this.#clock.monotonic() + EVEN_TIME;
  }

  /**
   * The connection with the fewest bytes of its own, of the best type that has any, for a frame that need not wait for
   * the path; a stalled one only if all others have stalled, too.
   */
  leastLoaded({ types, takesTurns = false, gathers = false, followsBulk }: LaneConnections): Underlay | undefined {
    if (followsBulk && this.#threaded.length > 0 && (this.isBusy || this.#isReceivingBulk)) {
      const follows = this.#least(
        this.#threaded.filter(({ underlay }) => types.includes(underlay.type)),
        'own',
      );
      if (follows) return follows.underlay;
    }
    const gathering = gathers ? this.#gathering(types) : undefined;
    if (gathering) return gathering;
    const best =
      (this.#prefersThisThread && this.#leastOf(types, this.#ofThisThread)) || this.#leastOf(types, this.#byType);
    if (best && takesTurns) best.turn = ++this.#turn;
    return best?.underlay ?? this.#stalled(types);
  }

  #leastOf(types: readonly string[], byType: ReadonlyMap<string, readonly Connection[]>): Connection | undefined {
    for (const type of types) {
      const best = this.#least(byType.get(type) ?? NONE, 'own');
      if (best) return best;
    }
    return undefined;
  }

  #stalled(types: readonly string[]): Underlay | undefined {
    for (const type of types) {
      const open = this.#byType.get(type)?.find(({ underlay }) => !underlay.isClosed);
      if (open) return open.underlay;
    }
    return undefined;
  }

  /** Else connections in threads are as good as others for light traffic. */
  get #prefersThisThread(): boolean {
    return this.#threaded.length > 0 && this.#clock.monotonic() >= this.#evenUntil;
  }

  /** A frame of bulk traffic arrived. */
  noteBulkArrived(): void {
    if (this.#threaded.length > 0) this.#bulkArrivedAt = this.#clock.monotonic();
  }

  get #isReceivingBulk(): boolean {
    return this.#clock.monotonic() - this.#bulkArrivedAt < BUSY_TIME;
  }

  /**
   * The connection for a small frame of a circuit that waits for nothing; undefined if it must wait.
   *
   * @param orderedTypes Types of the lane, if its receiver does not order frames.
   */
  light(orderedTypes?: readonly string[]): Underlay | undefined {
    this.#read();
    const { window } = this.#controller;
    const usable = orderedTypes ? this.#usable(orderedTypes).slice(0, 1) : this.#connections.values();
    const best = this.#least(usable, 'on the way');
    if (!best) return undefined;
    if (this.#load >= window && onTheWay(best) >= Math.max(LIGHT_LOAD, window * LIGHT_SHARE)) return undefined;
    best.turn = ++this.#turn;
    return best.underlay;
  }

  /**
   * Milliseconds for which the connections have made no progress. Call it while frames wait: it notes the time at the
   * connections, whose limit of writes may close them.
   */
  check(): number {
    this.#read();
    const now = this.#clock.monotonic();
    let still = Number.POSITIVE_INFINITY;
    for (const { underlay, load, movedAt } of this.#connections.values()) {
      if (load === 0) continue;
      still = Math.min(still, now - movedAt);
      underlay.noteUnacknowledged(now - movedAt);
    }
    return Number.isFinite(still) ? still : 0;
  }

  /** The connection over which to ask the peer now for the time on the way there; undefined if no question is due. */
  takeQuestion(): Underlay | undefined {
    const interval = Math.max(ASK_INTERVAL, (this.#controller.minRtt ?? 0) * ASK_ROUND_TRIPS);
    if (!this.#answers || !this.isPaced || this.#readAt - this.#askedAt < interval) return undefined;
    const underlay = this.light();
    if (underlay) this.#askedAt = this.#readAt;
    return underlay;
  }

  /**
   * Milliseconds that a question was on the way there, plus an unknown constant: the clocks differ. Undefined if the
   * peer does not tell.
   */
  noteOneWay(milliseconds: number | undefined): void {
    if (milliseconds === undefined) this.#answers = false;
    else this.#controller.noteOneWay(milliseconds);
  }

  wrote(underlay: Underlay, bytes: number): void {
    this.#load += bytes;
    const now = this.#clock.monotonic();
    this.#controller.sent(bytes, now);
    const connection = this.#connections.get(underlay);
    if (!connection?.sensor) return;
    if (connection.load === 0) connection.movedAt = now; // nobody has read its state while it was idle
    connection.load += bytes;
    connection.written += bytes;
    const last = connection.marks.at(-1);
    if (last && now - last.at < MARK_INTERVAL) last.written = connection.written;
    else connection.marks.push({ at: now, written: connection.written });
    if (connection.marks.length > MAX_MARKS) this.#read();
  }

  /**
   * Monotonic time before which all written bytes have reached the peer's system. Connections that have stalled do not
   * count, unless all have: the others deliver what is sent again.
   */
  get deliveredBefore(): number {
    this.#read();
    let [moving, all] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
    let areAllStalled = true;
    for (const { marks, isStalled } of this.#connections.values()) {
      const at = marks[0]?.at ?? Number.POSITIVE_INFINITY;
      all = Math.min(all, at);
      if (isStalled) continue;
      areAllStalled = false;
      moving = Math.min(moving, at);
    }
    return areAllStalled ? all : moving;
  }

  inspect(): PathInspection | undefined {
    if (!this.#isKnown) return undefined;
    this.#read();
    const controller = this.#controller;
    return {
      phase: controller.phase,
      reason: controller.reason,
      rate: Math.round(controller.rate * 1_000),
      pace: controller.pace === undefined ? undefined : Math.round(controller.pace * 1_000),
      roundTrip: controller.rtt,
      minRoundTrip: controller.minRtt,
      queueWait: controller.queueWait,
      jitter: controller.jitter,
      allowedWait: controller.allowedWait,
      window: Math.round(controller.window),
      onTheWay: this.#load,
      connections: Array.from(this.#connections.values(), ({ underlay, sensor, state, isStalled }) => ({
        type: underlay.type,
        congestionControl: sensor?.congestionControl(),
        ...state,
        isStalled,
        isThreaded: underlay.isThreaded,
      })),
    };
  }

  #gathering(types: readonly string[]): Underlay | undefined {
    for (const { underlay, isStalled } of this.#connections.values())
      if (underlay.isGathering && !isStalled && types.includes(underlay.type)) return underlay;
    return undefined;
  }

  /**
   * The connection with the fewest bytes: of its own, or with those on the way, if it accepts more. Equally loaded ones
   * take turns.
   */
  #least(connections: Iterable<Connection>, bytes: 'own' | 'on the way'): Connection | undefined {
    let best: Connection | undefined;
    let min = Number.POSITIVE_INFINITY;
    const ofThread = this.#prefersThisThread ? THREAD_LOAD : 0;
    for (const connection of connections) {
      const { underlay, isStalled, turn } = connection;
      // An ending one stays until its last bytes are written.
      if (isStalled || underlay.isClosed || (bytes !== 'own' && !underlay.writable)) continue;
      const own = bytes === 'own' ? underlay.backlog : onTheWay(connection);
      const load = own + (underlay.isThreaded ? ofThread : 0);
      if (load > min || (best && load === min && turn >= best.turn)) continue;
      best = connection;
      min = load;
    }
    return best;
  }

  /**
   * A path that the ends limit gains nothing from further connections: there, this thread leaves bulk traffic to the
   * others.
   */
  #usableForBulk(types: readonly string[]): readonly Connection[] {
    const usable = this.#usable(types);
    if (this.#threaded.length === 0 || this.isPaced) return usable;
    const threaded = usable.filter(
      ({ underlay, isStalled }) => underlay.isThreaded && !underlay.isClosed && !isStalled,
    );
    return threaded.length > 0 ? threaded : usable;
  }

  /** The connections of the first type that has any. */
  #usable(types: readonly string[]): readonly Connection[] {
    for (const type of types) {
      const connections = this.#byType.get(type);
      if (connections?.some(({ underlay }) => !underlay.isClosed)) return connections;
    }
    return NONE;
  }

  #add(underlay: Underlay): void {
    if (this.#connections.has(underlay)) return;
    const sensor = this.#hasFlows ? underlay.tcpSensor : undefined;
    if (sensor) this.#choice.add(sensor);
    const state = unknownTcpState();
    const movedAt = this.#clock.monotonic();
    this.#connections.set(underlay, {
      underlay,
      sensor,
      state,
      load: 0,
      turn: 0,
      written: 0,
      marks: [],
      movedAt,
      isStalled: false,
    });
  }

  #read(): void {
    const now = this.#clock.monotonic();
    if (now - this.#readAt < VALID) return;
    this.#readAt = now;
    let rtt = 0;
    let max = -1;
    let delivered = this.#delivered;
    let inFlight = 0;
    let sent = this.#sent;
    let sentAgain = this.#sentAgain;
    this.#load = 0;
    for (const connection of this.#connections.values()) {
      const { underlay, sensor, state } = connection;
      const before = state.delivered;
      if (!sensor?.read(state)) continue;
      connection.load = state.inFlight + state.unsent + underlay.backlog;
      if (state.delivered !== before || connection.load === 0) connection.movedAt = now;
      forgetDelivered(connection);
      const still = now - connection.movedAt;
      connection.isStalled = still > Math.max(STALLED_AFTER, STALLED_ROUND_TRIPS * state.rtt);
      delivered += state.delivered;
      sent += state.sent;
      sentAgain += state.sentAgain;
      if (connection.isStalled) continue;
      // The system sends bytes beyond its congestion window later: only those before will be in queues of the path.
      this.#load += Math.min(connection.load, Math.max(state.inFlight, state.congestionWindow));
      inFlight += state.inFlight;
      // The connection that carries most has the newest value.
      if (state.inFlight <= max) continue;
      max = state.inFlight;
      rtt = state.rtt;
    }
    this.#controller.observe({ now, rtt, delivered, inFlight, sentAgain });
    if (this.isPaced && rtt > 0) {
      const isLimited = now - this.#limitedAt <= rtt;
      const isQueueShort = this.#controller.isQueueShort(rtt);
      const isOwn = this.#controller.causesLosses;
      this.#choice.observe({ now, rtt, sent, sentAgain, isLimited, isQueueShort, isOwn });
    }
  }
}

/** Bytes on the way of a frame that is written now. */
function onTheWay({ underlay, load }: Connection): number {
  return underlay.isGathering ? load - GATHERING_BONUS : load;
}

/** The encryption adds some bytes to those written, so this errs towards fewer delivered ones. */
function forgetDelivered({ underlay, state, written, marks }: Connection): void {
  const delivered = written - state.unacknowledged - underlay.backlog;
  const first = marks.findIndex((mark) => mark.written > delivered);
  if (first !== 0) marks.splice(0, first === -1 ? marks.length : first);
}
