// Sends every edge router the changes of API sessions that routers cannot verify themselves (reference fact: control
// channel, sections 4.1 and 4.7). A router that connects gets all of them.

import { create, toBinary } from '@bufbuild/protobuf';
import type { IdSource } from '#lib/ids.ts';
import {
  ApiSessionAddedSchema,
  type ApiSession as ApiSessionMessage,
  ApiSessionRemovedSchema,
  ApiSessionSchema,
  ApiSessionUpdatedSchema,
  SessionRemovedSchema,
} from '#wire/gen/edge_control_pb.js';
import { EdgeControlHeader, EdgeControlType } from '#wire/gen/numbers.ts';
import { Message } from '#wire/message.ts';
import type { ConnectedRouter } from '../network/connected-router.ts';
import type { Network } from '../network/network.ts';
import type { ChangeSet } from '../state/change.ts';
import type { ApiSession } from '../state/kinds/api-session.ts';
import type { Session } from '../state/kinds/session.ts';
import type { State } from '../state/state.ts';

/** reference fact: sessions in one message. */
const CHUNK = 100;
const STRATEGY = 'instant';
/** Headers of a single change, as opposed to a full state. */
const SINGLE = [
  [EdgeControlHeader.SyncStrategy, STRATEGY],
  [EdgeControlHeader.ErrorCode, ''],
] as const;

export class LegacySessions {
  readonly #state: State;
  readonly #network: Network;
  readonly #ids: IdSource;
  readonly #unsubscribe: () => void;

  constructor(state: State, network: Network, ids: IdSource) {
    this.#state = state;
    this.#network = network;
    this.#ids = ids;
    this.#unsubscribe = state.subscribe('derived', (set) => this.#onChange(set));
  }

  close(): void {
    this.#unsubscribe();
  }

  /** Sends all sessions in chunks with their position. Sends nothing if there are none. */
  sendAll(router: ConnectedRouter): void {
    const sessions = [...this.#state.tables.apiSession.values()].map(toMessage);
    const id = this.#ids.cuid();
    for (let sequence = 0, start = 0; start < sessions.length; sequence++, start += CHUNK) {
      const isLast = start + CHUNK >= sessions.length;
      const body = create(ApiSessionAddedSchema, {
        isFullState: true,
        apiSessions: sessions.slice(start, start + CHUNK),
      });
      const headers = [
        [EdgeControlHeader.SyncStrategy, STRATEGY],
        [EdgeControlHeader.ErrorCode, JSON.stringify({ id, isLast, sequence })],
      ] as const;
      router.channel.trySend(
        new Message(EdgeControlType.ApiSessionAdded, headers, toBinary(ApiSessionAddedSchema, body)),
      );
    }
  }

  /** Rejects unknown tokens of API sessions: the router removes them. */
  reject(router: ConnectedRouter, tokens: readonly string[]): void {
    if (tokens.length === 0) return;
    const body = toBinary(ApiSessionRemovedSchema, create(ApiSessionRemovedSchema, { tokens: [...tokens] }));
    router.channel.trySend(new Message(EdgeControlType.ApiSessionRemoved, [], body));
  }

  /** Rejects unknown tokens of service sessions. */
  rejectServiceSessions(router: ConnectedRouter, tokens: readonly string[]): void {
    if (tokens.length === 0) return;
    const body = toBinary(SessionRemovedSchema, create(SessionRemovedSchema, { tokens: [...tokens] }));
    router.channel.trySend(new Message(EdgeControlType.SessionRemoved, [], body));
  }

  #onChange({ changes }: ChangeSet): void {
    const added: ApiSession[] = [];
    const updated: ApiSession[] = [];
    const removed: ApiSession[] = [];
    const removedSessions: Session[] = [];
    for (const { kind, before, after } of changes) {
      if (kind === 'apiSession' && !before && after) added.push(after);
      if (kind === 'apiSession' && before && after && haveOtherCertificates(before, after)) updated.push(after);
      if (kind === 'apiSession' && before && !after) removed.push(before);
      if (kind === 'session' && before && !after) removedSessions.push(before);
    }
    if (added.length > 0) this.#sendAdded(added);
    if (updated.length > 0) this.#sendUpdated(updated);
    if (removed.length > 0) this.#sendRemoved(removed);
    if (removedSessions.length > 0) this.#sendSessionsRemoved(removedSessions);
  }

  #sendAdded(sessions: readonly ApiSession[]): void {
    const body = create(ApiSessionAddedSchema, { apiSessions: sessions.map(toMessage) });
    this.#sendToAll(EdgeControlType.ApiSessionAdded, toBinary(ApiSessionAddedSchema, body), SINGLE);
  }

  #sendUpdated(sessions: readonly ApiSession[]): void {
    const body = create(ApiSessionUpdatedSchema, { apiSessions: sessions.map(toMessage) });
    this.#sendToAll(EdgeControlType.ApiSessionUpdated, toBinary(ApiSessionUpdatedSchema, body), SINGLE);
  }

  #sendRemoved(sessions: readonly ApiSession[]): void {
    const body = create(ApiSessionRemovedSchema, {
      tokens: sessions.map(({ token }) => token),
      ids: sessions.map(({ id }) => id),
    });
    this.#sendToAll(EdgeControlType.ApiSessionRemoved, toBinary(ApiSessionRemovedSchema, body));
  }

  #sendSessionsRemoved(sessions: readonly Session[]): void {
    const body = create(SessionRemovedSchema, {
      tokens: sessions.map(({ token }) => token),
      ids: sessions.map(({ id }) => id),
    });
    this.#sendToAll(EdgeControlType.SessionRemoved, toBinary(SessionRemovedSchema, body));
  }

  #sendToAll(type: number, body: Uint8Array, headers: Iterable<readonly [number, string]> = []): void {
    for (const { channel } of this.#network.routers.values()) channel.trySend(new Message(type, headers, body));
  }
}

/** Most changes of a session only store its last activity and keep the list itself. */
function haveOtherCertificates(before: ApiSession, after: ApiSession): boolean {
  return before.fingerprints !== after.fingerprints;
}

function toMessage({ id, token, identityId, fingerprints }: ApiSession): ApiSessionMessage {
  return create(ApiSessionSchema, { id, token, identityId, certFingerprints: [...fingerprints] });
}
