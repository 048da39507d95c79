// The terminators of this router at the controllers: created when a service is hosted, created again when a controller
// no longer knows them, removed with the service (reference facts: control channel, section 4.6; tunnel, section 3.4;
// edge, section 8.1). terminator-states.ts has the states of one.

import { describeError, TimeoutError } from '#lib/errors.ts';
import type { Log } from '#lib/log/log.ts';
import { CoalescedTask } from '#lib/queue/coalesced-task.ts';
import type { TaskQueue } from '#lib/queue/task-queue.ts';
import type { Clock, Timer } from '#lib/time/clock.ts';
import { nextState } from '#lib/transitions.ts';
import { CreateTerminatorResult } from '#wire/gen/edge_control_pb.js';
import { EdgeControlType } from '#wire/gen/numbers.ts';
import type { Message } from '#wire/message.ts';
import type { AdaptiveWindow, WindowPlace } from '../../control/adaptive-window.ts';
import type { Controller } from '../../control/controller.ts';
import { NoControllerError } from '../../control/controllers.ts';
import type { TerminatorDescription } from '../../interface/description.ts';
import { TerminatorChange, type WeightChange } from './terminator-change.ts';
import {
  decodeAnswer,
  removeTerminators,
  type TerminatorAnswer,
  TerminatorRejectedError,
} from './terminator-messages.ts';
import { FIRST_RETRY, retryWait } from './terminator-retry.ts';
import type { TerminatorInspection, TerminatorSpec } from './terminator-spec.ts';
import { TERMINATOR_TRANSITIONS, type TerminatorEvent, type TerminatorState } from './terminator-states.ts';

/** The members of Controllers that it uses. */
interface KnownControllers {
  readonly all: readonly unknown[];
  readonly best: Pick<Controller, 'requestResult'>;
  on(contentType: number, handler: (controller: unknown, message: Message) => void): void;
  onConnect(listener: (controller: Pick<Controller, 'id'>) => void): void;
}

export interface TerminatorsComponents {
  clock: Clock;
  log: Log;
  controllers: KnownControllers;
  /** Sends rate-limited requests to controllers. */
  queue: TaskQueue;
  /** Bounds the requests in progress. */
  window: AdaptiveWindow;
  /** For metrics: a controller answered a request for a terminator. */
  created(binding: string, milliseconds: number): void;
}

interface WantedTerminator {
  readonly spec: TerminatorSpec;
  readonly change: TerminatorChange;
  state: TerminatorState;
  /** No attempt is made before this time, in milliseconds of the clock's `monotonic`. */
  notBefore: number;
  failures: number;
  /** Rejections in a row; unlike failures, without timeouts and busy controllers. */
  rejections: number;
  /** Clock times, for inspections. */
  readonly addedAt: number;
  attemptedAt: number;
}

const CHECK_INTERVAL = 1_000;
/** Milliseconds for a controller that returns to name the terminators that it has. */
const CONFIRM_TIME = 10_000;
/**
 * Terminators of the tunneler that are created again without that wait. Each costs the controller a request without an
 * effect if it still has the terminator; with the token of a client it could fail, and the client would lose its
 * service.
 */
const MAX_CONCURRENT = 100;
const BUSY_WAIT = 5_000;
const REMOVE_BATCH = 50;

/** Bindings whose terminators this router creates. */
export const KEPT_BINDINGS: ReadonlySet<string> = new Set(['tunnel', 'edge']);

export class Terminators {
  readonly #components: TerminatorsComponents;
  readonly #kept = new Map<string, WantedTerminator>();
  readonly #removing = new Set<string>();
  readonly #answers = new Map<string, (answer: TerminatorAnswer) => void>();
  readonly #timer: Timer;
  /** Work for all changes of a turn: a host may add or remove thousands of terminators. */
  readonly #soon: CoalescedTask;
  /**
   * Removal requested, but not answered yet. Controllers differ in speed, so none of these may be created in the
   * meantime.
   */
  #beingRemoved: ReadonlySet<string> = new Set();
  /** Controllers that have connected and not named their terminators since. */
  readonly #unlisted = new Set<string>();
  #isSuspended = false;
  /** Some terminators wait for a place in the window or in the queue. */
  #isLimited = false;
  #isClosed = false;

  constructor(components: TerminatorsComponents) {
    this.#components = components;
    const { controllers, clock, log } = components;
    for (const type of [EdgeControlType.CreateTunnelTerminatorV2Response, EdgeControlType.CreateTerminatorV2Response])
      controllers.on(type, (_controller, message) => {
        const answer = decodeAnswer(message);
        const waiting = this.#answers.get(answer.terminatorId);
        if (waiting) waiting(answer);
        else this.#onLateAnswer(answer);
      });
    controllers.onConnect(({ id }) => this.#onConnect(id));
    this.#timer = clock.every('terminators', CHECK_INTERVAL, () => this.#work());
    this.#soon = new CoalescedTask(log, 'terminators', () => this.#work(), { inNextTurn: true });
  }

  /** The terminators and their states, for diagnostics. */
  describe(): TerminatorDescription[] {
    return [...this.#kept.values()].map(({ spec, state }) => {
      const { id, binding, serviceName, cost, precedence, instanceId } = spec;
      return { id, binding, serviceName, cost, precedence, instanceId, state };
    });
  }

  /** Numbers of the terminators of one binding by state. */
  counts(binding: string): Readonly<Record<TerminatorState, number>> {
    const counts = { establishing: 0, requested: 0, established: 0, unconfirmed: 0, suspended: 0 };
    for (const { spec, state } of this.#kept.values()) if (spec.binding === binding) counts[state]++;
    return counts;
  }

  /** The terminators of one binding, with the reference's field names. */
  inspect(binding: string): TerminatorInspection[] {
    return [...this.#kept.values()]
      .filter(({ spec }) => spec.binding === binding)
      .map(({ spec, state, addedAt, attemptedAt }) => ({
        key: spec.id,
        id: spec.id,
        state: state === 'requested' ? 'establishing' : state,
        instance: spec.instanceId,
        cost: spec.cost,
        precedence: spec.precedence,
        operationActive: state === 'requested' || this.#beingRemoved.has(spec.id),
        createTime: toTime(addedAt),
        lastAttempt: toTime(attemptedAt),
      }));
  }

  has(id: string): boolean {
    return this.#kept.has(id);
  }

  /**
   * A controller has created the terminator. Also while it is unconfirmed: a confirmation has no effects for its owner.
   */
  isEstablished(id: string): boolean {
    const state = this.#kept.get(id)?.state;
    return state === 'established' || state === 'unconfirmed';
  }

  /** A controller named the terminator: it has it. Returns false if this router does not keep it, or suspended it. */
  confirm(id: string): boolean {
    const kept = this.#kept.get(id);
    if (!kept || !this.#isWanted(kept)) return false;
    changeState(kept, 'confirmed');
    return true;
  }

  /**
   * A controller has named its terminators, and `confirm` was called for them. The first time after it connected, these
   * are all that it has: the others are created again at once.
   */
  listed(controllerId: string): void {
    if (!this.#unlisted.delete(controllerId)) return;
    const now = this.#components.clock.monotonic();
    for (const kept of this.#kept.values()) if (kept.state === 'unconfirmed') kept.notBefore = now;
    this.#soon.request();
  }

  /** Removes terminators that this router does not keep from the controllers. */
  disown(ids: readonly string[]): void {
    for (const id of ids) if (!this.#isWanted(this.#kept.get(id))) this.#removing.add(id);
    this.#work();
  }

  /** Number of terminators whose removal is still to be sent to a controller. */
  get unremoved(): number {
    return this.#removing.size;
  }

  /** Adds a terminator. While suspended, it is stored and created on `resume`. */
  add(spec: TerminatorSpec): void {
    const state = this.#isSuspended ? 'suspended' : 'establishing';
    if (!this.#isSuspended) this.#removing.delete(spec.id);
    const { clock } = this.#components;
    const addedAt = clock.now();
    const change = new TerminatorChange(clock.monotonic());
    this.#kept.set(spec.id, { spec, change, state, notBefore: 0, failures: 0, rejections: 0, addedAt, attemptedAt: 0 });
    this.#soon.request();
  }

  /** Removes all terminators from the controllers, but keeps their specs. */
  suspend(): void {
    this.#isSuspended = true;
    for (const kept of this.#kept.values()) {
      this.#removing.add(kept.spec.id);
      changeState(kept, 'suspend');
    }
    this.#work();
  }

  /** Creates all terminators again. */
  resume(): void {
    this.#isSuspended = false;
    for (const [id, kept] of this.#kept) {
      if (kept.state !== 'suspended') continue;
      this.#removing.delete(id);
      changeState(kept, 'resume');
      // A copy, so that the answer to an earlier request is not taken for that to the next one: a removal may follow
      // it.
      this.#kept.set(id, { ...kept, notBefore: 0, failures: 0, rejections: 0 });
    }
    this.#work();
  }

  remove(id: string): void {
    if (!this.#kept.delete(id)) return;
    this.#removing.add(id);
    this.#soon.request();
  }

  /** Sends a change to the controller through the queue, once the terminator exists, until the controller has it. */
  change(id: string, change: WeightChange): void {
    const kept = this.#kept.get(id);
    if (!kept) return;
    kept.change.add(change);
    this.#soon.request();
  }

  /** Removes all terminators from the controllers, within `milliseconds`. */
  async close(milliseconds: number): Promise<void> {
    this.#isClosed = true;
    this.#timer.cancel();
    void this.#soon.close();
    for (const id of this.#kept.keys()) this.#removing.add(id);
    this.#kept.clear();
    if (this.#components.controllers.all.length > 0) await this.#removeAll(milliseconds);
  }

  /** A slow controller may have created a terminator after its removal, and after the time limit of the request. */
  #onLateAnswer({ terminatorId, result }: TerminatorAnswer): void {
    if (result === CreateTerminatorResult.SUCCESS && !this.#isClosed) this.disown([terminatorId]);
  }

  #onConnect(controllerId: string): void {
    this.#unlisted.add(controllerId);
    const now = this.#components.clock.monotonic();
    for (const kept of this.#kept.values()) {
      if (kept.state === 'suspended') continue;
      if (kept.state === 'established') kept.notBefore = now + CONFIRM_TIME;
      changeState(kept, 'reconnected');
    }
    const own = [...this.#kept.values()].filter(
      ({ state, spec }) => state === 'unconfirmed' && spec.binding === 'tunnel',
    );
    if (own.length <= MAX_CONCURRENT) for (const kept of own) kept.notBefore = now;
    this.#work();
  }

  #work(): void {
    const { controllers, clock, queue, window } = this.#components;
    if (controllers.all.length === 0) return;
    const now = clock.monotonic();
    if (this.#removing.size > 0 && this.#beingRemoved.size === 0) void this.#removeAll(window.timeout);
    for (const kept of this.#kept.values()) {
      if (kept.state === 'unconfirmed' && kept.notBefore <= now) changeState(kept, 'overdue');
      if (kept.state === 'established' && kept.change.isDue(now)) {
        this.#isLimited = queue.isFull;
        if (this.#isLimited) return;
        this.#sendChange(kept);
      }
      const isDue = kept.state === 'establishing' && kept.notBefore <= now;
      if (!isDue || this.#beingRemoved.has(kept.spec.id)) continue;
      const place = queue.isFull ? undefined : window.begin();
      this.#isLimited = !place;
      if (!place) return;
      this.#request(kept, place);
    }
  }

  /** Continues in the next turn if terminators wait for a place. */
  #onPlace(): void {
    if (this.#isLimited) this.#soon.request();
  }

  #request(kept: WantedTerminator, place: WindowPlace): void {
    changeState(kept, 'request');
    kept.attemptedAt = this.#components.clock.now();
    const onError = (error: unknown) => {
      if (error instanceof TimeoutError) place.backoff();
      else place.failed();
      if (this.#isWanted(kept)) this.#retry(kept, FIRST_RETRY, describeError(error));
    };
    const sent = this.#components.queue.add(async () => {
      // The window bounds outstanding answers; the queue only sends.
      void this.#create(kept, place)
        .catch(onError)
        .finally(() => this.#onPlace());
    });
    sent.catch(onError);
  }

  #sendChange(kept: WantedTerminator): void {
    const { clock, log, queue } = this.#components;
    const weight = kept.change.begin(clock.monotonic());
    const about = { terminatorId: kept.spec.id, service: kept.spec.serviceName, ...weight };
    const onError = (error: unknown) => {
      const isFinal = error instanceof TerminatorRejectedError && !error.retriable;
      const retryIn = isFinal ? kept.change.ended() : kept.change.failed(weight, clock.monotonic());
      if (!this.#isWanted(kept)) return;
      const text = isFinal
        ? 'the controller rejected the change of a terminator'
        : 'terminator could not be changed, retrying';
      log.warn({ ...about, retryIn, reason: describeError(error) }, text);
    };
    void queue
      .add(() => this.#requestChange(kept, weight))
      .then(() => {
        kept.change.ended();
        log.info(about, 'terminator changed');
      })
      .catch(onError)
      .finally(() => this.#soon.request());
  }

  async #requestChange({ spec }: WantedTerminator, weight: WeightChange): Promise<void> {
    const controller = spec.controller();
    if (!controller) throw new NoControllerError();
    const { request, answerType } = spec.change(weight);
    const answer = await controller.request(request, { timeout: this.#components.window.timeout });
    if (answer.contentType !== answerType) throw new TerminatorRejectedError(answer);
  }

  #isWanted(kept: WantedTerminator | undefined): boolean {
    return kept !== undefined && this.#kept.get(kept.spec.id) === kept && kept.state !== 'suspended';
  }

  async #create(kept: WantedTerminator, place: WindowPlace): Promise<void> {
    const { spec } = kept;
    if (!this.#isWanted(kept)) return place.failed();
    const answer = await this.#ask(spec);
    reportAnswer(place, answer);
    if (!this.#isWanted(kept)) {
      // The removal may have been sent before the request.
      if (answer.result === CreateTerminatorResult.SUCCESS && !this.#isWanted(this.#kept.get(spec.id)))
        this.#removing.add(spec.id);
      return;
    }
    if (answer.result === CreateTerminatorResult.SUCCESS) {
      this.#components.created(spec.binding, this.#components.clock.now() - kept.attemptedAt);
      kept.failures = 0;
      kept.rejections = 0;
      changeState(kept, 'created');
      this.#components.log.info({ terminatorId: spec.id, service: spec.serviceName }, 'terminator established');
      spec.established?.();
      if (kept.change.isDue(this.#components.clock.monotonic())) this.#soon.request();
      return;
    }
    const isBusy = answer.result === CreateTerminatorResult.FAILED_BUSY;
    if (!isBusy && spec.mayRetry?.(answer, ++kept.rejections) === false) {
      this.#kept.delete(spec.id);
      return;
    }
    const why = answer.msg || CreateTerminatorResult[answer.result] || String(answer.result);
    this.#retry(kept, isBusy ? BUSY_WAIT : FIRST_RETRY, why);
  }

  async #ask(spec: TerminatorSpec): Promise<TerminatorAnswer> {
    const { clock, window } = this.#components;
    const controller = spec.controller();
    if (!controller) throw new NoControllerError();
    const { promise, resolve } = Promise.withResolvers<TerminatorAnswer>();
    const answered = new AbortController();
    this.#answers.set(spec.id, resolve);
    try {
      // Controllers answer with a reply or with a separate message; the first of both counts.
      const options = { timeout: window.timeout, signal: answered.signal };
      const reply = controller.request(spec.request(clock.now()), options);
      return await Promise.race([promise, reply.then(decodeAnswer)]);
    } finally {
      answered.abort();
      if (this.#answers.get(spec.id) === resolve) this.#answers.delete(spec.id); // else it belongs to a later request
    }
  }

  #retry(kept: WantedTerminator, first: number, why: string): void {
    kept.failures++;
    changeState(kept, 'failed');
    const wait = retryWait(kept.failures, first);
    kept.notBefore = this.#components.clock.monotonic() + wait;
    this.#components.log.warn(
      { terminatorId: kept.spec.id, service: kept.spec.serviceName, retryIn: wait, reason: why },
      'terminator could not be created, retrying',
    );
  }

  /** Removes terminators in batches, until one batch fails. */
  async #removeAll(milliseconds: number): Promise<void> {
    const { controllers, clock, log, window } = this.#components;
    const end = clock.monotonic() + milliseconds;
    let place: WindowPlace | undefined;
    try {
      while (this.#removing.size > 0) {
        place = window.begin();
        if (!place && !this.#isClosed) return; // the next check retries
        const terminatorIds = [...this.#removing].slice(0, REMOVE_BATCH);
        this.#beingRemoved = new Set(terminatorIds);
        await controllers.best.requestResult(removeTerminators(terminatorIds), {
          timeout: Math.max(1, end - clock.monotonic()),
        });
        place?.success();
        for (const id of terminatorIds) this.#removing.delete(id);
      }
    } catch (error) {
      if (error instanceof TimeoutError || (error as { retriable?: boolean }).retriable) place?.backoff();
      else place?.failed();
      log.info(
        { terminators: this.#removing.size, error: describeError(error) },
        'terminators could not be removed, retrying',
      );
    } finally {
      this.#beingRemoved = new Set();
    }
  }
}

function reportAnswer(place: WindowPlace, { result }: TerminatorAnswer): void {
  if (result === CreateTerminatorResult.SUCCESS) place.success();
  else if (result === CreateTerminatorResult.FAILED_BUSY) place.backoff();
  else place.failed();
}

/** `2026-01-02 03:04:05`, UTC. */
function toTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString().slice(0, 19).replace('T', ' ');
}

function changeState(kept: WantedTerminator, event: TerminatorEvent): void {
  kept.state = nextState(TERMINATOR_TRANSITIONS, kept.state, event, `the terminator ${kept.spec.id}`);
}
