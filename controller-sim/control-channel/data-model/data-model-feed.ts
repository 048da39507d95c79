// Sends the router data model to subscribed routers: a full state or the missed sets, then each new set, until the
// subscription expires (reference fact: control channel, section 5.1).

import { create, toBinary } from '@bufbuild/protobuf';
import type { Clock, Timer } from '#lib/time/clock.ts';
import {
  type DataState,
  DataState_Action,
  DataState_ChangeSetSchema,
  type DataState_Event,
  DataStateSchema,
  type SubscribeToDataModelRequest,
} from '#wire/gen/edge_control_pb.js';
import { EdgeControlHeader, EdgeControlType } from '#wire/gen/numbers.ts';
import { encodeUint64 } from '#wire/header-values.ts';
import { Message } from '#wire/message.ts';
import type { ConnectedRouter } from '../../network/connected-router.ts';
import type { State } from '../../state/state.ts';
import { event, modelOf } from './events.ts';
import type { ModelSet, ModelSets } from './model-sets.ts';

/** Seconds. */
const MIN_TIMEOUT_SECONDS = 10;
const MAX_TIMEOUT_SECONDS = 360;
const INDEX_INTERVAL = 30_000;

interface Subscription {
  readonly router: ConnectedRouter;
  readonly id: string;
  expiresAt: number;
  /** The position of the router: of the full state or the last set that was sent. */
  index: bigint;
  /** The index in the last CurrentIndex message. */
  sentIndex: bigint;
}

export interface DataModelFeedComponents {
  state: State;
  sets: ModelSets;
  clock: Clock;
}

export class DataModelFeed {
  readonly #components: DataModelFeedComponents;
  readonly #subscriptions = new Map<string, Subscription>();
  readonly #unsubscribe: readonly (() => void)[];
  readonly #timer: Timer;

  constructor(components: DataModelFeedComponents) {
    this.#components = components;
    this.#unsubscribe = [
      components.sets.subscribe((set) => this.#onSet(set)),
      components.sets.onReset(() => this.#onReset()),
    ];
    this.#timer = components.clock.every('data model index', INDEX_INTERVAL, () => this.#sendIndex());
  }

  close(): void {
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
    this.#timer.cancel();
    this.#subscriptions.clear();
  }

  /** Starts or extends a router's subscription. */
  subscribe(router: ConnectedRouter, request: SubscribeToDataModelRequest): void {
    const { sets, clock } = this.#components;
    const seconds = Math.min(MAX_TIMEOUT_SECONDS, Math.max(MIN_TIMEOUT_SECONDS, request.subscriptionDurationSeconds));
    const expiresAt = clock.now() + seconds * 1000;
    const known = this.#subscriptions.get(router.id);
    if (request.renew && known?.id === request.subscriptionId && known.router === router) {
      known.expiresAt = expiresAt;
      return;
    }
    const sameHistory = request.currentIndex > 0n && request.timelineId === sets.timeline;
    const missed = sameHistory ? sets.since(request.currentIndex) : undefined;
    const index = missed ? request.currentIndex : sets.index;
    const subscription: Subscription = {
      router,
      id: request.subscriptionId,
      expiresAt,
      index,
      sentIndex: missed?.at(-1)?.index ?? index,
    };
    this.#subscriptions.set(router.id, subscription);
    if (!missed) this.#sendFullState(subscription);
    else for (const set of missed) this.#sendSet(subscription, set);
  }

  unsubscribe(router: ConnectedRouter): void {
    if (this.#subscriptions.get(router.id)?.router === router) this.#subscriptions.delete(router.id);
  }

  /** Sends all keys, outside of the history: routers need them first. */
  sendKeys(router: ConnectedRouter): void {
    const changes = this.#components.sets.publicKeys();
    const set = create(DataState_ChangeSetSchema, { isSynthetic: true, changes });
    router.channel.trySend(
      new Message(EdgeControlType.DataStateChangeSet, [], toBinary(DataState_ChangeSetSchema, set)),
    );
  }

  /** The full state that a router should have. */
  stateFor(routerId: string): DataState {
    const { sets } = this.#components;
    const events = this.#visible(routerId, sets.fullState());
    return create(DataStateSchema, { events, endIndex: sets.index, timelineId: sets.timeline });
  }

  /** The position that each router reaches: the last change with an effect on routers. */
  get position(): { readonly index: bigint; readonly timeline: string } {
    const { latest: index, timeline } = this.#components.sets;
    return { index, timeline };
  }

  /** Describes the differences between the model and the entities that it is derived from. */
  check(): string[] {
    return this.#components.sets.check();
  }

  #sendFullState(subscription: Subscription): void {
    const state = this.stateFor(subscription.router.id);
    this.#send(subscription, EdgeControlType.DataState, toBinary(DataStateSchema, state));
  }

  /** The set follows the position of the router: the changes between have no effect on it. */
  #sendSet(subscription: Subscription, { index, events }: ModelSet): void {
    const changes = this.#visible(subscription.router.id, events);
    const set = create(DataState_ChangeSetSchema, { index, previousIndex: subscription.index, changes });
    subscription.index = index;
    this.#send(subscription, EdgeControlType.DataStateChangeSet, toBinary(DataState_ChangeSetSchema, set));
  }

  /** Ends the subscription if the router's queue is full. The router subscribes again when messages stop. */
  #send({ router, id }: Subscription, type: number, body: Uint8Array): void {
    const sent = router.channel.trySend(new Message(type, [[EdgeControlHeader.SubscriptionId, id]], body));
    if (!sent) this.#subscriptions.delete(router.id);
  }

  #onSet(set: ModelSet): void {
    const now = this.#components.clock.now();
    for (const subscription of [...this.#subscriptions.values()]) {
      if (subscription.expiresAt < now) this.#subscriptions.delete(subscription.router.id);
      else this.#sendSet(subscription, set);
    }
  }

  #onReset(): void {
    for (const subscription of [...this.#subscriptions.values()]) {
      subscription.index = this.#components.sets.index;
      this.#sendFullState(subscription);
    }
  }

  /**
   * A router receives only the configurations that its list names. If the list changes, its configurations are sent
   * first.
   */
  #visible(routerId: string, events: readonly DataState_Event[]): DataState_Event[] {
    const { tables } = this.#components.state;
    const own = new Set(tables.router.get(routerId)?.configs ?? []);
    const forRouters = (typeId: string) => tables.configType.get(typeId)?.target === 'router';
    const visible = events.filter(
      ({ model }) => model.case !== 'config' || !forRouters(model.value.typeId) || own.has(model.value.id),
    );
    const isOwnChange = ({ action, model }: DataState_Event) =>
      model.case === 'router' && model.value.id === routerId && action === DataState_Action.UPDATE;
    if (!events.some(isOwnChange)) return visible;
    const configs = [...own].flatMap((id) => tables.config.get(id) ?? []);
    const created = configs.flatMap((config) => modelOf('config', config, tables) ?? []);
    return [...created.map((model) => ({ ...event(DataState_Action.CREATE, model), isSynthetic: true })), ...visible];
  }

  #sendIndex(): void {
    for (const subscription of this.#subscriptions.values()) {
      if (subscription.index === subscription.sentIndex) continue;
      subscription.sentIndex = subscription.index;
      const headers = [[EdgeControlHeader.RouterDataModelIndex, encodeUint64(subscription.index)]] as const;
      subscription.router.channel.trySend(new Message(EdgeControlType.CurrentIndex, headers));
    }
  }
}
