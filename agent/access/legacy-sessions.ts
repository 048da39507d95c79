// API sessions that controllers push to routers, because their tokens are opaque: added one by one or as full states in
// chunks, updated and removed. The router reports tokens in use, so that controllers keep their sessions (reference
// fact: control channel, sections 4.1, 4.7).

import { create, toBinary } from '@bufbuild/protobuf';
import { parseJson } from '#lib/json/json.ts';
import { Listeners } from '#lib/listeners.ts';
import type { Log } from '#lib/log/log.ts';
import type { Clock, Timer } from '#lib/time/clock.ts';
import {
  ApiSessionAddedSchema,
  ApiSessionHeartbeatSchema,
  type ApiSession as ApiSessionMessage,
  ApiSessionRemovedSchema,
  ApiSessionUpdatedSchema,
  RequestClientReSyncSchema,
  SessionRemovedSchema,
} from '#wire/gen/edge_control_pb.js';
import { EdgeControlHeader, EdgeControlType } from '#wire/gen/numbers.ts';
import { Message } from '#wire/message.ts';
import type { Recipient } from '../control/controller.ts';

export interface LegacySession {
  readonly token: string;
  readonly id: string;
  readonly identityId: string;
  /** SHA-1 of the certificates that its client may present. */
  readonly fingerprints: ReadonlySet<string>;
  /** Id of the controller that pushed it. */
  readonly controllerId: string;
}

export interface LegacySessionsComponents {
  clock: Clock;
  log: Log;
  controllers: {
    readonly all: readonly Recipient[];
    on(contentType: number, handler: (controller: Recipient, message: Message) => void): void;
  };
  /** Milliseconds between reports of tokens in use. */
  heartbeatInterval: number;
  /** Tokens in one report. */
  heartbeatBatch: number;
}

/** A full state that arrives in chunks. */
interface FullState {
  readonly id: string;
  readonly tokens: Set<string>;
  /** Removed meanwhile: later chunks may still contain them. */
  readonly removed: Set<string>;
  readonly chunks: Set<number>;
  last: number | undefined;
  readonly deadline: Timer;
}

/** Limit on remembered removed service sessions; a bind with one of them is rejected. */
const MAX_REMOVED = 10_000;
/** Limit on sessions. A controller that pushes more is faulty. */
const MAX_SESSIONS = 1_000_000;
/** Reference fact: milliseconds for all chunks of a full state. */
const STATE_TIME = 20_000;

export class LegacySessions {
  readonly #components: LegacySessionsComponents;
  readonly #sessions = new Map<string, LegacySession>();
  readonly #inUse = new Map<string, number>();
  readonly #removedServiceSessions = new Set<string>();
  readonly #listeners: Listeners<void>;
  readonly #timer: Timer;
  /** Full states in progress, by controller: those of several controllers arrive interleaved. */
  readonly #states = new Map<string, FullState>();
  #isClosed = false;

  constructor(components: LegacySessionsComponents) {
    this.#components = components;
    const { controllers, clock, heartbeatInterval, log } = components;
    this.#listeners = new Listeners('legacy sessions', log);
    controllers.on(EdgeControlType.ApiSessionAdded, (controller, message) => this.#onAdded(controller, message));
    controllers.on(EdgeControlType.ApiSessionUpdated, (controller, message) => {
      for (const session of message.decode(ApiSessionUpdatedSchema).apiSessions) this.#put(controller, session);
    });
    controllers.on(EdgeControlType.ApiSessionRemoved, (controller, message) => {
      const { tokens } = message.decode(ApiSessionRemovedSchema);
      for (const token of tokens) this.#states.get(controller.id)?.removed.add(token);
      this.#remove(tokens);
    });
    controllers.on(EdgeControlType.SessionRemoved, (_controller, message) => {
      const { tokens, ids } = message.decode(SessionRemovedSchema);
      for (const each of [...tokens, ...ids]) this.#rememberRemoved(each);
      this.#listeners.call();
    });
    this.#timer = clock.every('legacy session heartbeat', heartbeatInterval, () => this.#report());
  }

  /** Controllers are still connected, and may go on with a full state. */
  close(): void {
    this.#isClosed = true;
    this.#timer.cancel();
    for (const { deadline } of this.#states.values()) deadline.cancel();
  }

  get size(): number {
    return this.#sessions.size;
  }

  get(token: string): LegacySession | undefined {
    return this.#sessions.get(token);
  }

  /**
   * Calls `listener` after sessions were removed, until the returned function is called. New ones take no right away.
   */
  onRemoved(listener: () => void): () => void {
    return this.#listeners.add(listener);
  }

  /** Marks a token as in use by a connected client, until the returned function is called. */
  use(token: string): () => void {
    this.#inUse.set(token, (this.#inUse.get(token) ?? 0) + 1);
    return () => {
      const left = (this.#inUse.get(token) ?? 1) - 1;
      if (left > 0) this.#inUse.set(token, left);
      else this.#inUse.delete(token);
    };
  }

  /** Whether a controller has recently removed a service session, by its token or by its id (the token's `jti`). */
  isRemovedServiceSession({ token, id }: { readonly token: string; readonly id: string | undefined }): boolean {
    return this.#removedServiceSessions.has(token) || (id !== undefined && this.#removedServiceSessions.has(id));
  }

  #onAdded(controller: Recipient, message: Message): void {
    if (this.#isClosed) return;
    const { isFullState, apiSessions } = message.decode(ApiSessionAddedSchema);
    if (isFullState) this.#onChunk(controller, message, apiSessions);
    else for (const session of apiSessions) this.#put(controller, session);
  }

  #remove(tokens: readonly string[]): void {
    const removed = tokens.filter((token) => this.#sessions.delete(token));
    if (removed.length > 0) this.#listeners.call();
  }

  #put(controller: Recipient, { token, id, identityId, certFingerprints }: ApiSessionMessage): void {
    if (this.#sessions.size >= MAX_SESSIONS && !this.#sessions.has(token)) return;
    this.#states.get(controller.id)?.tokens.add(token); // it may be newer than the arriving state
    const fingerprints = new Set(certFingerprints.map((each) => each.toLowerCase()));
    this.#sessions.set(token, { token, id, identityId, fingerprints, controllerId: controller.id });
  }

  /** The last chunk of a full state removes that controller's sessions which the state does not contain. */
  #onChunk(controller: Recipient, message: Message, sessions: readonly ApiSessionMessage[]): void {
    const chunk = chunkOf(message);
    const known = this.#states.get(controller.id);
    const state = known?.id === chunk.id ? known : this.#startState(controller, chunk.id);
    for (const session of sessions) if (!state.removed.has(session.token)) this.#put(controller, session);
    state.chunks.add(chunk.sequence);
    if (chunk.isLast) state.last = chunk.sequence;
    if (state.last === undefined || state.chunks.size <= state.last) return;
    this.#endState(controller);
    const missing = this.#sessions
      .values()
      .filter(({ token, controllerId }) => controllerId === controller.id && !state.tokens.has(token));
    this.#remove(Array.from(missing, ({ token }) => token));
  }

  #startState(controller: Recipient, id: string): FullState {
    this.#endState(controller);
    const deadline = this.#components.clock.after('full state of legacy sessions', STATE_TIME, () =>
      this.#requestState(controller),
    );
    const state = {
      id,
      tokens: new Set<string>(),
      removed: new Set<string>(),
      chunks: new Set<number>(),
      last: undefined,
      deadline,
    };
    this.#states.set(controller.id, state);
    return state;
  }

  #endState({ id }: Recipient): void {
    this.#states.get(id)?.deadline.cancel();
    this.#states.delete(id);
  }

  /** Without the missing chunks, removed sessions would stay valid. */
  #requestState(controller: Recipient): void {
    this.#endState(controller);
    this.#components.log.warn({ controller: controller.id }, 'legacy sessions are incomplete, requesting them again');
    const request = create(RequestClientReSyncSchema, { reason: `incomplete after ${STATE_TIME / 1_000} s` });
    const body = toBinary(RequestClientReSyncSchema, request);
    controller.channel.trySend(new Message(EdgeControlType.RequestClientReSync, [], body));
  }

  #rememberRemoved(tokenOrId: string): void {
    const [oldest] = this.#removedServiceSessions;
    if (this.#removedServiceSessions.size >= MAX_REMOVED && oldest !== undefined)
      this.#removedServiceSessions.delete(oldest);
    this.#removedServiceSessions.add(tokenOrId);
  }

  #report(): void {
    const { controllers, heartbeatBatch, log } = this.#components;
    const tokens = [...this.#inUse.keys()];
    for (let first = 0; first < tokens.length; first += heartbeatBatch) {
      const batch = create(ApiSessionHeartbeatSchema, { tokens: tokens.slice(first, first + heartbeatBatch) });
      const body = toBinary(ApiSessionHeartbeatSchema, batch);
      for (const controller of controllers.all)
        if (!controller.channel.trySend(new Message(EdgeControlType.ApiSessionHeartbeat, [], body)))
          log.debug({ controller: controller.id }, 'tokens in use could not be reported');
    }
  }
}

/** The position of a message in a full state. reference fact: a state without one is complete. */
function chunkOf(message: Message): { id: string; sequence: number; isLast: boolean } {
  const text = message.string(EdgeControlHeader.ErrorCode) ?? '';
  const state = (text === '' ? {} : parseJson(text)) as Readonly<Record<string, unknown>> | null;
  if (typeof state?.id !== 'string' || typeof state.sequence !== 'number') return { id: '', sequence: 0, isLast: true };
  return { id: state.id, sequence: state.sequence, isLast: state.isLast === true };
}
