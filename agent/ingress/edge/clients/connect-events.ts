// Reports connected identities to controllers: changes in batches, and the full state when a controller connects and at
// intervals (reference fact: control channel, section 3; config, section 2.16).

import { create, toBinary } from '@bufbuild/protobuf';
import type { Log } from '#lib/log/log.ts';
import type { Clock, Timer } from '#lib/time/clock.ts';
import { formatDuration } from '#lib/time/duration.ts';
import { ConnectEventsSchema } from '#wire/gen/edge_control_pb.js';
import { EdgeControlType } from '#wire/gen/numbers.ts';
import { Message } from '#wire/message.ts';
import type { Recipient } from '../../../control/controller.ts';

/** One connection of an identity. */
export interface ConnectDetail {
  readonly identityId: string;
  /** Id of the channel. */
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly connectedAt: number;
  /** `127.0.0.1:40000` */
  readonly localAddress: string;
  readonly remoteAddress: string;
}

export interface ConnectEventsComponents {
  clock: Clock;
  log: Log;
  controllers: {
    readonly all: readonly Recipient[];
    onConnect(listener: (controller: Recipient) => void): void;
  };
  /** All open connections. */
  connections(): Iterable<ConnectDetail>;
}

export interface ConnectEventsInit {
  /** Milliseconds. */
  readonly batchInterval: number;
  readonly fullSyncInterval: number;
  /**
   * Limit on identities with a change to report; beyond it, the full state is reported instead. Also limits the new
   * connections; further ones are only part of the state.
   */
  readonly maxQueuedEvents: number;
}

export class ConnectEvents {
  readonly #components: ConnectEventsComponents;
  readonly #init: ConnectEventsInit;
  readonly #changed = new Set<string>();
  /** New connections. Controllers emit an event for each one that they receive, so each is reported once. */
  #opened: ConnectDetail[] = [];
  readonly #behind = new Set<Recipient>();
  readonly #fullSync: Timer;
  #batch: Timer | undefined;
  #isClosed = false;
  /** Clock time. */
  #lastFullSync = 0;

  constructor(components: ConnectEventsComponents, init: ConnectEventsInit) {
    this.#components = components;
    this.#init = init;
    components.controllers.onConnect((controller) => {
      this.#behind.add(controller);
      this.#schedule();
    });
    this.#fullSync = components.clock.every('connect events', init.fullSyncInterval, () => this.#reportAll());
  }

  /** The inspection `identity-connection-statuses`. */
  inspect() {
    const { batchInterval, fullSyncInterval, maxQueuedEvents } = this.#init;
    const byIdentity = Map.groupBy(this.#components.connections(), ({ identityId }) => identityId);
    const identities = [...byIdentity].map(([identityId, connections]) => [
      identityId,
      {
        unreported_count: this.#changed.has(identityId) ? 1 : 0,
        unreported_state_changed: this.#changed.has(identityId),
        being_reported_count: 0,
        being_reported_state_changed: false,
        connections: connections.map(({ id, localAddress, remoteAddress }) => ({
          id,
          closed: false,
          srcAddr: remoteAddress,
          dstAddr: localAddress,
        })),
      },
    ]);
    return {
      identity_connections: Object.fromEntries(identities),
      last_full_sync: new Date(this.#lastFullSync).toISOString(),
      queued_event_count: this.#changed.size,
      max_queued_events: maxQueuedEvents,
      need_full_sync: [...this.#behind].map(({ id }) => id),
      batch_interval: formatDuration(batchInterval),
      full_sync_interval: formatDuration(fullSyncInterval),
    };
  }

  close(): void {
    this.#isClosed = true;
    this.#fullSync.cancel();
    this.#batch?.cancel();
  }

  /** An identity opened a connection, or closed one. */
  changed(identityId: string, opened?: ConnectDetail): void {
    this.#changed.add(identityId);
    if (opened && this.#opened.length < this.#init.maxQueuedEvents) this.#opened.push(opened);
    if (this.#changed.size > this.#init.maxQueuedEvents) this.#reportAll();
    else this.#schedule();
  }

  #schedule(): void {
    if (this.#isClosed) return;
    this.#batch ??= this.#components.clock.after('connect event batch', this.#init.batchInterval, () => this.#report());
  }

  #reportAll(): void {
    this.#lastFullSync = this.#components.clock.now();
    for (const controller of this.#components.controllers.all) this.#behind.add(controller);
    this.#report();
  }

  #report(): void {
    this.#batch?.cancel();
    this.#batch = undefined;
    const connected = new Set(Array.from(this.#components.connections(), ({ identityId }) => identityId));
    const opened = Map.groupBy(this.#opened, ({ identityId }) => identityId);
    this.#opened = [];
    const behind = new Set(this.#behind);
    this.#behind.clear();
    const eventOf = (id: string) => connectEvent(id, connected.has(id), opened.get(id) ?? []);
    const changes = [...this.#changed].map(eventOf);
    this.#changed.clear();
    const everything = [...new Set([...connected, ...opened.keys()])].map(eventOf);
    for (const controller of this.#components.controllers.all) {
      if (behind.has(controller)) this.#send(controller, everything, true);
      else if (changes.length > 0) this.#send(controller, changes, false);
    }
  }

  #send(controller: Recipient, events: readonly ReturnType<typeof connectEvent>[], fullState: boolean): void {
    const body = toBinary(ConnectEventsSchema, create(ConnectEventsSchema, { events: [...events], fullState }));
    if (controller.channel.trySend(new Message(EdgeControlType.ConnectEvents, [], body))) return;
    this.#behind.add(controller);
    if (controller.isConnected) this.#schedule();
    this.#components.log.debug({ controller: controller.id }, 'connected identities could not be reported');
  }
}

function connectEvent(identityId: string, isConnected: boolean, opened: readonly ConnectDetail[]) {
  return {
    identityId,
    isConnected,
    connectTimes: opened.map(({ connectedAt, localAddress, remoteAddress }) => ({
      connectTime: BigInt(Math.round(connectedAt)),
      srcAddr: remoteAddress,
      dstAddr: localAddress,
    })),
  };
}
