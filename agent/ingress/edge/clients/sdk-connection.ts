// One connected SDK client: its session, its channel, and its connections, which share one id space for dials and binds
// (reference fact: edge, sections 4 and 5).

import type { X509Certificate } from 'node:crypto';
import { ClosedError, ProjectError } from '#lib/errors.ts';
import type { Budget } from '#lib/queue/budget.ts';
import type { Clock, Timer } from '#lib/time/clock.ts';
import { sha1Fingerprint } from '#pki/certificates.ts';
import type { Channel } from '#wire/channel/channel.ts';
import type { ChannelLane } from '#wire/channel/channel-lane.ts';
import { Frame } from '#wire/frame.ts';
import { EdgeErrorCode, SdkHeader } from '#wire/gen/numbers.ts';
import type { FlowId, OwnerId } from '#wire/lanes/fair-queue.ts';
import { DEFAULT_LANE, LaneName } from '#wire/lanes/lane-name.ts';
import { asReply, Message } from '#wire/message.ts';
import type { Subject } from '../../../access/access.ts';
import type { ApiSession } from '../../../access/api-session.ts';
import type { SessionPosture } from '../../../access/posture-store.ts';
import type { CircuitEnd } from '../../../forwarder/destination.ts';
import type { ClientEnd, SdkLink } from '../ends/client-end.ts';
import { ClosingEnds } from '../ends/closing-ends.ts';
import { SdkRelay } from '../ends/sdk-relay.ts';
import type { Rejections } from './rejections.ts';
import type { Right } from './right.ts';

/** Underlay types of a grouped connection. */
export const SdkUnderlay = Object.freeze({ Default: 'edge.default', Control: 'edge.control' } as const);
/** Lane for messages that need not keep their order relative to data. */
export const CONTROL_LANE = new LaneName('control');
export const DATA_LANE = DEFAULT_LANE;

/** Limit on connections of one client, dialed and hosted: they need memory, but no descriptors. */
const MAX_CONNECTIONS = 4_096;
/**
 * Bytes that a client may send ahead of its circuits; beyond this, the router stops reading its connection and all its
 * circuits.
 */
const MAX_HELD_BYTES = 1024 * 1024;
/**
 * Their protocol cannot pause one circuit. So while others use the connection, a circuit for whose data it is not read
 * must take at least so many bytes in so many milliseconds: otherwise it ends.
 */
const MIN_TAKEN_BYTES = 64 * 1024;
const TAKING_TIME = 10_000;
/**
 * Bytes of frames that a client may send beyond the windows of its circuits until the router stops reading it for some
 * milliseconds. Each frame counts with the work for one without data.
 */
const MAX_EXCESS = 1024 * 1024;
const EXCESS_PAUSE = 100;
const FRAME_OVERHEAD = 1024;
/** Limits on messages other than data that wait for a slow client, and on their bytes. */
const MAX_UNSENT = 10_000;
const MAX_UNSENT_BYTES = 16 * 1024 * 1024;
/** The same for those of one connection id: its end is cut, and the others stay. */
const MAX_UNSENT_OF_END = 2_500;
const MAX_UNSENT_BYTES_OF_END = 4 * 1024 * 1024;
/** The router's own ids begin above the ids that clients assign. */
const FIRST_OWN_ID = 0x8000_0000;
const LAST_OWN_ID = 0xffff_ffff;
const GONE = { code: EdgeErrorCode.Internal };

export interface SdkConnectionInit {
  readonly clock: Clock;
  readonly channel: Channel;
  readonly session: ApiSession;
  /** Shared by all connections of the session. */
  readonly posture: SessionPosture;
  /** Leaf first. */
  readonly presented: readonly X509Certificate[];
  readonly connectedAt: number;
  readonly rejections: Rejections;
  /** Connections of all clients, by identity. */
  readonly places: Budget;
  /** Returns the owner of the circuit of an end of this client. */
  readonly ownerOf: (end: CircuitEnd) => OwnerId;
  /** Receives delays of the client's data (client-end.ts). */
  readonly onDataDelay: ((milliseconds: number) => void) | undefined;
  readonly requestCheck: () => void;
  /** Called whenever the last end is over. */
  readonly onLastEnd: (connection: SdkConnection) => void;
}

/**
 * The use of a connection id: an end, a dial that will create one, or neither for a dial of the router. `closed` aborts
 * if the client closes it.
 */
interface Use {
  readonly end?: ClientEnd;
  readonly right?: Right;
  readonly closed?: AbortController;
}

interface Unsent {
  readonly messages: { readonly message: Message; readonly bytes: number }[];
  bytes: number;
}

/** Bytes of the client that wait for a circuit, and those that it took since a time. */
interface Held {
  bytes: number;
  taken: number;
  /** Monotonic: it held nothing, or had taken `MIN_TAKEN_BYTES`. */
  since: number;
}

export class SdkConnection implements SdkLink {
  session: ApiSession;
  readonly posture: SessionPosture;
  readonly channel: Channel;
  /** SHA-1 of all certificates that the client presented. */
  readonly fingerprints: readonly string[];
  readonly presented: readonly X509Certificate[];
  readonly connectedAt: number;
  readonly rejections: Rejections;
  readonly closingEnds = new ClosingEnds();
  readonly onDataDelay: ((milliseconds: number) => void) | undefined;
  /** Checks the rights of the client again, at the pace that the client may cause. */
  readonly requestCheck: () => void;
  /** Set once the client is served. */
  subscription: { readonly cost: number; refresh(): Generator<void>; stop(): void } | undefined;
  readonly #onLastEnd: (connection: SdkConnection) => void;
  readonly #clock: Clock;
  readonly #places: Budget;
  readonly #ends = new Map<number, Use>();
  /** Binds whose right is being checked. */
  readonly #binds = new Set<{ readonly connectionId: number; readonly closed: AbortController }>();
  /** By circuit id. A client that dials a service which it hosts itself has both ends of the circuit. */
  readonly #relays = new Map<string, SdkRelay[]>();
  /** Messages that did not fit into the queue, and their sizes, by connection: each waits only for its own room. */
  readonly #unsent = new Map<FlowId, Unsent>();
  #unsentCount = 0;
  #unsentBytes = 0;
  readonly #data: ChannelLane;
  /** Cancel the waits of ends for the lane of data. */
  readonly #waiting = new Map<number, () => void>();
  /** Connections whose messages wait for it. */
  readonly #unsentWaiting = new Set<FlowId>();
  /** Ends that wait until the messages of their connection have left. */
  readonly #behind = new Map<number, ClientEnd>();
  #held = 0;
  readonly #heldBy = new Map<ClientEnd, Held>();
  /** Runs while circuits keep the router from reading the client, and until the next look at them. */
  #taking: Timer | undefined;
  /** Bytes beyond the windows of circuits since the last pause. */
  #excess = 0;
  /** The pause in progress. */
  #pause: Timer | undefined;
  #nextOwnId = FIRST_OWN_ID;

  constructor(init: SdkConnectionInit) {
    const { channel, session, posture, presented, connectedAt, rejections, places, clock } = init;
    this.channel = channel;
    this.session = session;
    this.posture = posture;
    this.presented = presented;
    this.fingerprints = presented.map(sha1Fingerprint);
    this.connectedAt = connectedAt;
    this.rejections = rejections;
    this.onDataDelay = init.onDataDelay;
    this.requestCheck = init.requestCheck;
    this.#clock = clock;
    this.#places = places;
    this.#onLastEnd = init.onLastEnd;
    this.#data = channel.lane(DATA_LANE);
    this.#data.shareByOwner((connectionId) => {
      const end = this.end(connectionId as number)?.circuitEnd;
      return end ? init.ownerOf(end) : '';
    });
  }

  get isClosed(): boolean {
    return this.channel.isClosed;
  }

  /** The subject of access decisions. */
  get subject(): Subject {
    return { identityId: this.session.identityId, posture: this.posture.state };
  }

  get count(): number {
    return this.#ends.size;
  }

  /** Bytes of the client that wait for its circuits. */
  get held(): number {
    return this.#held;
  }

  // Connection ids ----------------------------------------------------------------------------------------------------

  /**
   * Reserves an id assigned by the client. Returns a signal that aborts if the client disconnects, or closes this
   * connection, before it has an end; undefined if the id is in use, or if the client or its identity has too many
   * connections: see `whyFull`.
   */
  reserve(connectionId: number): AbortSignal | undefined {
    if (this.#ends.has(connectionId) || !this.#acquirePlace()) return undefined;
    const closed = new AbortController();
    this.#ends.set(connectionId, { closed });
    return closed.signal;
  }

  /**
   * Reserves an id for a connection that the router opens; undefined if the client or its identity has too many
   * connections.
   */
  reserveOwn(): number | undefined {
    if (!this.#acquirePlace()) return undefined;
    while (this.#ends.has(this.#nextOwnId)) this.#advanceOwnId();
    const id = this.#nextOwnId;
    this.#advanceOwnId();
    this.#ends.set(id, {});
    return id;
  }

  /** The reason why `reserve` rejects every id; undefined if it does not. */
  get whyFull(): string | undefined {
    if (this.#ends.size >= MAX_CONNECTIONS) return `the client has ${MAX_CONNECTIONS} connections, the limit`;
    return this.#places.has(this.session.identityId)
      ? undefined
      : 'the clients of this identity have too many connections';
  }

  /** Releases an id that was reserved with this signal, unless it has an end or was reserved again. */
  release(connectionId: number, reserved: AbortSignal): void {
    if (this.#ends.get(connectionId)?.closed?.signal === reserved) this.#delete(connectionId);
  }

  /**
   * Starts a bind, which reserves its id only when it is accepted: a client may repeat it. Call `done` at its end.
   * `closed` aborts if the client closes or unbinds it before.
   */
  beginBind(connectionId: number): { readonly closed: AbortSignal; done(): void } {
    const bind = { connectionId, closed: new AbortController() };
    this.#binds.add(bind);
    return { closed: bind.closed.signal, done: () => this.#binds.delete(bind) };
  }

  /** Aborts the binds with this id that have not ended. Returns false if there is none. */
  closeBinds(connectionId: number): boolean {
    const binds = [...this.#binds].filter((each) => each.connectionId === connectionId);
    for (const { closed } of binds) closed.abort(closedByClient());
    return binds.length > 0;
  }

  /** The client closed a connection. */
  onEndClosed(connectionId: number): void {
    this.closeBinds(connectionId);
    const use = this.#ends.get(connectionId);
    if (use?.closed) {
      this.#delete(connectionId);
      use.closed.abort(closedByClient());
    } else use?.end?.onClosed();
  }

  /** Sets the end of an id that is reserved. */
  put(connectionId: number, end: ClientEnd, right: Right): void {
    this.#ends.set(connectionId, { end, right });
    if (end instanceof SdkRelay) this.#relays.set(end.circuitId, [...this.relaysOf(end.circuitId), end]);
  }

  /** Returns the ends of a circuit whose client does its own flow control: none, one or both. */
  relaysOf(circuitId: string): readonly SdkRelay[] {
    return this.#relays.get(circuitId) ?? [];
  }

  /** Ends of circuits whose client does its own flow control. */
  relays(): readonly SdkRelay[] {
    return [...this.#relays.values()].flat();
  }

  /** Whether an id has an end, or is reserved for one. */
  isUsed(connectionId: number): boolean {
    return this.#ends.has(connectionId);
  }

  end(connectionId: number): ClientEnd | undefined {
    return this.#ends.get(connectionId)?.end;
  }

  /** Removes an end, or an id that the router reserved, unless the id is in use by another end meanwhile. */
  remove(connectionId: number, end: ClientEnd | undefined): void {
    const known = this.#ends.get(connectionId);
    if (known?.end !== end) return;
    this.#delete(connectionId);
    if (!end) return;
    if (end instanceof SdkRelay) this.#removeRelay(end);
    this.#behind.delete(connectionId);
    this.#waiting.get(connectionId)?.();
    this.#waiting.delete(connectionId);
    if (this.#ends.size === 0) this.#onLastEnd(this);
  }

  /** Cuts the circuits that remain after the client has disconnected: nobody receives a reason. */
  cutRemaining(): void {
    for (const { end } of [...this.#ends.values()]) end?.cut('the client disconnected', GONE);
  }

  /**
   * Ends with the rights that they use. The caller may stop for other work: it then gets only ends that still exist.
   */
  *rights(): Generator<{ end: ClientEnd; right: Right }> {
    for (const { end, right } of this.#ends.values()) if (end && right) yield { end, right };
  }

  // The way to the client ---------------------------------------------------------------------------------------------

  reply(request: Message, answer: Message): void {
    this.send(asReply(request, answer));
  }

  send(message: Message): void {
    if (this.channel.isClosed) return;
    const flow = message.uint32(SdkHeader.ConnectionId) ?? '';
    const before = this.#unsent.get(flow);
    if (!before && this.#trySend(message, flow)) return;
    const copy = message.encode(); // its headers may be parts of a request, or of a frame that does not stay valid
    const unsent = before ?? { messages: [], bytes: 0 };
    if (!before) this.#unsent.set(flow, unsent);
    unsent.messages.push({ message: Message.fromFrame(new Frame(copy)), bytes: copy.length });
    unsent.bytes += copy.length;
    this.#unsentCount++;
    this.#unsentBytes += copy.length;
    if (this.#cutUnread(flow, unsent)) return;
    // A client that reads this slowly cannot learn the outcome of its requests and would wait forever.
    const isTooMuch = this.#unsentCount > MAX_UNSENT || this.#unsentBytes > MAX_UNSENT_BYTES;
    if (isTooMuch && this.#unsentCount > 1)
      this.channel.close(new ProjectError('SLOW_CLIENT', `${this.channel.name} does not read its messages`));
    else if (!before) this.#awaitRoom(flow);
  }

  /** Ends a circuit or hosted service that would use up the messages of the client. */
  #cutUnread(flow: FlowId, { messages, bytes }: Unsent): boolean {
    const end = this.end(flow as number);
    const isTooMuch = messages.length > MAX_UNSENT_OF_END || bytes > MAX_UNSENT_BYTES_OF_END;
    if (!end || !isTooMuch || messages.length === 1) return false;
    this.#unsent.delete(flow);
    this.#unsentCount -= messages.length;
    this.#unsentBytes -= bytes;
    end.cut('the client does not read its messages', GONE);
    return true;
  }

  trySendData(connectionId: number, head: Buffer, body: Buffer | undefined, { waits } = { waits: true }): boolean {
    if (this.#unsent.has(connectionId)) return false; // they go first
    if (waits && this.#data.waitingBytes(connectionId) > 0) return false;
    return this.#data.trySendFrame(head, body, connectionId);
  }

  backPressure(connectionId: number): number {
    return this.#data.backPressure(connectionId);
  }

  onceWritable(end: ClientEnd): void {
    const { connectionId } = end;
    if (this.#unsent.has(connectionId)) this.#behind.set(connectionId, end);
    else if (!this.#waiting.has(connectionId)) {
      const wake = () => {
        this.#waiting.delete(connectionId);
        this.#wake(end);
      };
      this.#waiting.set(connectionId, this.#data.onceWritable(connectionId, wake));
    }
  }

  /** Messages of one connection keep their order, also relative to its data. */
  #trySend(message: Message, flow: FlowId): boolean {
    return this.channel.trySend(message, DATA_LANE, flow);
  }

  hold(end: ClientEnd, bytes: number): void {
    const wasReading = this.#mayRead;
    const now = this.#clock.monotonic();
    const held = this.#heldBy.get(end) ?? { bytes: 0, taken: 0, since: now };
    held.bytes += bytes;
    held.taken += Math.max(0, -bytes);
    if (held.taken >= MIN_TAKEN_BYTES) Object.assign(held, { taken: 0, since: now });
    if (held.bytes > 0) this.#heldBy.set(end, held);
    else this.#heldBy.delete(end);
    this.#held += bytes;
    if (this.#held > MAX_HELD_BYTES) this.#watchTaking();
    if (this.#mayRead !== wasReading) this.channel.setReading(this.#mayRead);
  }

  /** Looks at the circuits after the time in which they must take data. */
  #watchTaking(): void {
    if (this.#taking || this.isClosed) return;
    this.#taking = this.#clock.after('SDK circuits take data', TAKING_TIME, () => {
      this.#taking = undefined;
      if (this.#held <= MAX_HELD_BYTES / 2) return;
      if (this.#ends.size > 1) this.#cutStalled();
      if (this.#held > MAX_HELD_BYTES / 2) this.#watchTaking();
    });
  }

  /** Circuits that take no data may hold half of the room together. Those with most go first. */
  #cutStalled(): void {
    const before = this.#clock.monotonic() - TAKING_TIME;
    const stalled = [...this.#heldBy].filter(([, { since }]) => since <= before);
    let bytes = stalled.reduce((sum, [, held]) => sum + held.bytes, 0);
    for (const [end, held] of stalled.sort(([, a], [, b]) => b.bytes - a.bytes)) {
      if (bytes <= MAX_HELD_BYTES / 2) return;
      bytes -= held.bytes;
      end.cut('the circuit takes no data, and holds up others', GONE);
    }
  }

  exceeded(bytes: number): void {
    this.#excess += bytes + FRAME_OVERHEAD;
    if (this.#excess < MAX_EXCESS || this.#pause || this.isClosed) return;
    this.#excess = 0;
    this.channel.setReading(false);
    this.#pause = this.#clock.after('SDK client beyond its windows', EXCESS_PAUSE, () => {
      this.#pause = undefined;
      if (this.#mayRead) this.channel.setReading(true);
    });
  }

  get #mayRead(): boolean {
    return this.#held <= MAX_HELD_BYTES && this.#pause === undefined;
  }

  /** The channel closed: ends everything that used it, except circuits that the client had closed before. */
  onClosed(): void {
    this.rejections.close();
    this.#pause?.cancel();
    this.#taking?.cancel();
    this.subscription?.stop();
    this.#unsent.clear();
    this.#unsentCount = 0;
    this.#unsentBytes = 0;
    for (const [connectionId, { end, closed }] of [...this.#ends]) {
      closed?.abort(new ClosedError(this.channel.name));
      if (!end?.onLost()) this.#delete(connectionId);
    }
    for (const ends of [this.#waiting, this.#unsentWaiting, this.#behind]) ends.clear();
  }

  #acquirePlace(): boolean {
    return this.#ends.size < MAX_CONNECTIONS && this.#places.acquire(this.session.identityId);
  }

  #delete(connectionId: number): void {
    if (this.#ends.delete(connectionId)) this.#places.release(this.session.identityId);
  }

  #removeRelay(relay: SdkRelay): void {
    const others = this.relaysOf(relay.circuitId).filter((each) => each !== relay);
    if (others.length > 0) this.#relays.set(relay.circuitId, others);
    else this.#relays.delete(relay.circuitId);
  }

  /** Sends the messages of a connection: once its waiting frames have left, or else when there is room for one. */
  #awaitRoom(flow: FlowId): void {
    if (this.#unsentWaiting.has(flow)) return;
    this.#unsentWaiting.add(flow);
    this.#data.onceWritable(flow, () => {
      this.#unsentWaiting.delete(flow);
      this.#sendUnsent(flow);
    });
  }

  #sendUnsent(flow: FlowId): void {
    const unsent = this.#unsent.get(flow);
    if (this.isClosed || !unsent) return;
    const { messages } = unsent;
    for (let next = messages[0]; next; next = messages[0]) {
      if (!this.#trySend(next.message, flow)) return this.#awaitRoom(flow);
      messages.shift();
      unsent.bytes -= next.bytes;
      this.#unsentCount--;
      this.#unsentBytes -= next.bytes;
    }
    this.#unsent.delete(flow);
    const end = this.#behind.get(flow as number);
    this.#behind.delete(flow as number);
    if (end) this.#wake(end);
  }

  /** An end may send, unless messages of its connection go first. */
  #wake(end: ClientEnd): void {
    if (this.isClosed) return;
    if (this.#unsent.has(end.connectionId)) this.#behind.set(end.connectionId, end);
    else end.onLinkWritable?.();
  }

  #advanceOwnId(): void {
    this.#nextOwnId = this.#nextOwnId === LAST_OWN_ID ? FIRST_OWN_ID : this.#nextOwnId + 1;
  }
}

function closedByClient(): ProjectError {
  return new ProjectError('CLOSED_BY_CLIENT', 'the client closed the connection');
}
