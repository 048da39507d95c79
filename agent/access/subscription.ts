// Keeps the data model current: subscribes with one controller, renews before the subscription expires, and subscribes
// again if changes or an answer are missing, or the controller is silent or disconnects (reference fact: control
// channel, sections 5.1 and 5.2).

import { create, toBinary } from '@bufbuild/protobuf';
import { describeError } from '#lib/errors.ts';
import { IdSource } from '#lib/ids.ts';
import type { Log } from '#lib/log/log.ts';
import type { Random } from '#lib/random.ts';
import type { Clock, Timer } from '#lib/time/clock.ts';
import type { Channel } from '#wire/channel/channel.ts';
import {
  type DataState,
  DataState_ChangeSetSchema,
  DataStateSchema,
  SubscribeToDataModelRequestSchema,
} from '#wire/gen/edge_control_pb.js';
import { EdgeControlHeader, EdgeControlType } from '#wire/gen/numbers.ts';
import { encodeUint64 } from '#wire/header-values.ts';
import { Message } from '#wire/message.ts';
import type { Controller } from '../control/controller.ts';
import type { DataModel } from './data-model.ts';

/** A controller, as far as a subscription needs it. */
export type ModelSource = Pick<Controller, 'id' | 'isConnected' | 'isResponsive' | 'send'> & {
  readonly channel: Pick<Channel, 'trySend' | 'unanswered'>;
};

interface ModelSources {
  readonly all: readonly ModelSource[];
  readonly leader: ModelSource;
  on(contentType: number, handler: (controller: ModelSource, message: Message) => void): void;
  onConnect(listener: () => void): void;
  onDisconnect(listener: (controller: ModelSource) => void): void;
}

export interface SubscriptionComponents {
  clock: Clock;
  log: Log;
  random: Random;
  controllers: ModelSources;
  model: DataModel;
  /** A full state is older than the previous one: the controllers' history has restarted. */
  onHistoryReset(): void;
  /** For metrics: called for each change of the model. Returns the result of `work`. */
  working<T>(work: () => T): T;
}

const DURATION = 300_000;
const RENEW_BEFORE = 60_000;
const CHECK_INTERVAL = 30_000;
/** Reference fact: milliseconds without an answer to heartbeats after which another controller is subscribed with. */
const SILENCE = 30_000;
/** Milliseconds for an answer; twice as many after each attempt in vain, since a large model takes time. */
const ANSWER_TIME = 30_000;
const MAX_ANSWER_TIME_MS = 300_000;

interface Subscription {
  readonly id: string;
  readonly controller: ModelSource;
  renewAt: number;
  /** When the request is repeated. A controller without news does not answer, so usually never. */
  answerBy: number;
}

export class ModelSubscription {
  readonly #components: SubscriptionComponents;
  readonly #ids: IdSource;
  readonly #timer: Timer;
  #current: Subscription | undefined;
  #answerTime = ANSWER_TIME;
  #reportedIndex = 0n;

  constructor(components: SubscriptionComponents) {
    this.#components = components;
    this.#ids = new IdSource(components.random);
    const { controllers, clock } = components;
    controllers.on(EdgeControlType.DataState, (controller, message) => this.#onState(controller, message));
    controllers.on(EdgeControlType.DataStateChangeSet, (controller, message) => this.#onChange(controller, message));
    controllers.onConnect(() => this.#check());
    controllers.onDisconnect((controller) => this.#onDisconnect(controller));
    this.#timer = clock.every('data model subscription', CHECK_INTERVAL, () => this.#check());
  }

  close(): void {
    this.#timer.cancel();
  }

  /** Replaces the model, and subscribes again from its position. */
  replace(state: DataState): void {
    const { clock, model } = this.#components;
    model.replace(state, clock.now());
    this.#subscribe(state.endIndex);
  }

  #check(): void {
    const { clock, model } = this.#components;
    const current = this.#current;
    const now = clock.monotonic();
    if (!current?.controller.isConnected || this.#isSilent(current.controller)) this.#subscribe(model.index);
    else if (now >= current.answerBy) this.#askAgain(current);
    else if (now >= current.renewAt) this.#send(current, true, model.index);
    this.#reportIndex();
  }

  /** Whether another controller should be asked, because this one only seems to be connected. */
  #isSilent(controller: ModelSource): boolean {
    return (
      controller.channel.unanswered > SILENCE && this.#components.controllers.all.some((each) => each.isResponsive)
    );
  }

  /** A controller that accepts messages may still not process them, so the next one is asked, if there is another. */
  #askAgain(current: Subscription): void {
    const { controllers, model, log } = this.#components;
    const { controller } = current;
    log.warn({ controller: controller.id, waited: this.#answerTime }, 'data model was not received, asking again');
    this.#answerTime = Math.min(this.#answerTime * 2, MAX_ANSWER_TIME_MS);
    const { all } = controllers;
    const next = all[(all.indexOf(controller) + 1) % all.length] ?? controller;
    // The same id accepts a late answer.
    this.#current = next === controller ? current : this.#create(next);
    this.#send(this.#current, false, model.index);
    this.#expectAnswer();
  }

  #expectAnswer(): void {
    if (this.#current) this.#current.answerBy = this.#components.clock.monotonic() + this.#answerTime;
  }

  /** Repeats the request later if `apply` throws: the message is malformed. */
  #received<T>(apply: () => T): T {
    this.#expectAnswer();
    const result = apply();
    if (this.#current) this.#current.answerBy = Number.POSITIVE_INFINITY;
    this.#answerTime = ANSWER_TIME;
    return result;
  }

  #onDisconnect(controller: ModelSource): void {
    if (this.#current?.controller !== controller) return;
    this.#current = undefined;
    if (this.#components.controllers.all.length > 0) this.#subscribe(this.#components.model.index);
  }

  #subscribe(index: bigint): void {
    const { controllers } = this.#components;
    if (controllers.all.length === 0) return;
    this.#current = this.#create(controllers.leader);
    this.#send(this.#current, false, index);
    if (index === 0n) this.#expectAnswer();
  }

  #create(controller: ModelSource): Subscription {
    return { id: this.#ids.uuid(), controller, renewAt: 0, answerBy: Number.POSITIVE_INFINITY };
  }

  #send(subscription: Subscription, renew: boolean, index: bigint): void {
    const { clock, log, model } = this.#components;
    const request = create(SubscribeToDataModelRequestSchema, {
      currentIndex: index,
      subscriptionDurationSeconds: DURATION / 1000,
      renew,
      timelineId: model.timeline,
      subscriptionId: subscription.id,
    });
    try {
      subscription.controller.send(
        new Message(EdgeControlType.SubscribeToDataModel, [], toBinary(SubscribeToDataModelRequestSchema, request)),
      );
      subscription.renewAt = clock.monotonic() + DURATION - RENEW_BEFORE;
    } catch (error) {
      log.debug(
        { controller: subscription.controller.id, error: describeError(error) },
        'subscription to the data model failed, retrying',
      );
      this.#current = undefined; // the next check retries
    }
  }

  #onState(controller: ModelSource, message: Message): void {
    if (!this.#isOurs(controller, message)) return;
    const { clock, model, working } = this.#components;
    const { wentBack } = this.#received(() =>
      working(() => model.replace(message.decode(DataStateSchema, false), clock.now())),
    );
    if (wentBack) this.#components.onHistoryReset();
    this.#components.log.info(
      {
        controller: controller.id,
        index: String(this.#components.model.index),
        services: this.#components.model.services.size,
      },
      'data model received',
    );
  }

  #onChange(controller: ModelSource, message: Message): void {
    const { model, working, log } = this.#components;
    const isOurs = this.#isOurs(controller, message);
    const apply = () => {
      const set = message.decode(DataState_ChangeSetSchema, false);
      return set.isSynthetic || isOurs ? { set, verdict: working(() => model.change(set)) } : undefined;
    };
    const changed = isOurs ? this.#received(apply) : apply();
    if (changed?.verdict !== 'gap') return;
    log.info(
      { controller: controller.id, index: String(model.index), missing: String(changed.set.previousIndex) },
      'data model changes are missing, subscribing again',
    );
    this.#subscribe(model.index);
    this.#expectAnswer();
  }

  #isOurs(controller: ModelSource, message: Message): boolean {
    return (
      this.#current?.controller === controller && message.string(EdgeControlHeader.SubscriptionId) === this.#current.id
    );
  }

  /** Reports the position of this router to the controller, for its status pages (message 20506). */
  #reportIndex(): void {
    const { index } = this.#components.model;
    if (index === this.#reportedIndex) return;
    this.#reportedIndex = index;
    for (const controller of this.#components.controllers.all) {
      controller.channel.trySend(
        new Message(EdgeControlType.CurrentIndex, [[EdgeControlHeader.RouterDataModelIndex, encodeUint64(index)]]),
      );
    }
  }
}
