// Drains the router: rejects new circuits that end here, removes hosted terminators, and asks the controller to quiesce
// the terminators that it manages. Open circuits continue; links stay for circuits that only pass. Draining does not
// stop the router.
//
//   serving ──begin──► draining ──cancel──► serving
//      └────────────stop────┴───► draining until the end
//
// Quiesce (1039) and Dequiesce (1040) are the reference's: the controller sets the precedence of the router's
// terminators to failed, and restores it. The controller keeps that state while the router is away, so `close` restores
// it, and the next start after a crash (quiesce-marker.ts).

import { background } from '#lib/background.ts';
import { describeError, ProjectError } from '#lib/errors.ts';
import type { Log } from '#lib/log/log.ts';
import { systemRandom } from '#lib/random.ts';
import { type BackoffPolicy, nextBackoff } from '#lib/time/backoff.ts';
import type { Clock, Timer } from '#lib/time/clock.ts';
import { ControlType } from '#wire/gen/numbers.ts';
import { Message } from '#wire/message.ts';
import type { DrainStatus } from '../interface/description.ts';
import type { QuiesceMarker } from './quiesce-marker.ts';

/** The part of the controllers that receives quiesce requests. */
export interface QuiescingControllers {
  readonly all: readonly unknown[];
  readonly leader: { requestResult(message: Message, options?: { timeout?: number }): Promise<Message> };
  onConnect(listener: () => void): void;
}

export interface DrainComponents {
  clock: Clock;
  log: Log;
  controllers: QuiescingControllers;
  /** Circuit ends on this router. */
  ends: { readonly count: number; whenEmpty(milliseconds: number, signal?: AbortSignal): Promise<boolean> };
  terminators: { suspend(): void; resume(): void; readonly unremoved: number } | undefined;
  marker: Pick<QuiesceMarker, 'isSet' | 'set' | 'clear'>;
  /** All circuits that use this router. */
  circuits(): number;
  /** The router starts or stops accepting circuits. */
  onChange(isDraining: boolean): void;
}

/** Milliseconds for the controller's answer, as in the reference. */
const QUIESCE_TIMEOUT = 5_000;
/** Waits until a failed request is repeated. */
const RETRY: BackoffPolicy = { min: 10_000, max: 300_000, factor: 2, jitter: 0 };
/** Milliseconds between progress reports. */
const PROGRESS_INTERVAL = 1_000;

export class Drain {
  readonly #components: DrainComponents;
  #since: number | undefined;
  /** The wanted state of the controller's own terminators, and the last known one. */
  #isQuiesceWanted = false;
  #atController: 'serving' | 'quiesced' | 'unknown';
  /** The requests to the controller, one after the other. */
  #requests: Promise<unknown> = Promise.resolve();
  #pending = 0;
  /** Milliseconds of the last wait until a failed request is repeated; 0 after a success. */
  #wait = 0;
  #retry: Timer | undefined;
  #isStopping = false;
  #isClosed = false;

  constructor(components: DrainComponents) {
    this.#components = components;
    this.#atController = components.marker.isSet ? 'unknown' : 'serving';
    components.controllers.onConnect(() => this.#reconcile());
  }

  get isDraining(): boolean {
    return this.#since !== undefined;
  }

  get status(): DrainStatus {
    const { ends, terminators, circuits } = this.#components;
    const here = ends.count;
    return {
      state: this.#since === undefined ? 'serving' : 'draining',
      circuits: here,
      passing: Math.max(0, circuits() - here),
      terminators: this.#since === undefined ? 0 : (terminators?.unremoved ?? 0),
      ...(this.#since !== undefined && { since: new Date(this.#since).toISOString() }),
    };
  }

  /** With `quiesce`, also asks the controller to quiesce. A second call has no other effect. */
  begin({ quiesce }: { quiesce: boolean }): void {
    const { clock, log, terminators, ends } = this.#components;
    if (this.#since === undefined) {
      this.#since = clock.now();
      this.#components.onChange(true);
      terminators?.suspend();
      log.info({ previous: 'serving', state: 'draining', circuits: ends.count }, 'router drains');
    }
    if (!quiesce || this.#isStopping) return;
    this.#isQuiesceWanted = true;
    this.#reconcile();
  }

  /** The router stops: it drains until its end, and is not quiesced any more. */
  stop(): void {
    this.#isStopping = true;
    this.begin({ quiesce: false });
  }

  /**
   * Serves again. Always sends a dequiesce: the controller may have been asked without the knowledge of this router.
   */
  async cancel(): Promise<void> {
    const { log, terminators } = this.#components;
    if (this.#isStopping) throw stopping();
    if (this.#since !== undefined) {
      this.#since = undefined;
      this.#components.onChange(false);
      terminators?.resume();
      log.info({ previous: 'draining', state: 'serving' }, 'router serves again');
    }
    this.#isQuiesceWanted = false;
    await this.#ask(ControlType.Dequiesce);
  }

  /**
   * Resolves with true when no circuit ends here, or with false after `milliseconds`. Calls `onProgress` every second
   * with the remaining milliseconds. Rejects when the signal aborts; the router continues to drain.
   */
  async whenEmpty(milliseconds: number, signal: AbortSignal, onProgress: (left: number) => void): Promise<boolean> {
    const { clock, ends } = this.#components;
    const end = clock.monotonic() + milliseconds;
    onProgress(milliseconds);
    const timer = clock.every('drain progress', PROGRESS_INTERVAL, () =>
      onProgress(Math.max(0, end - clock.monotonic())),
    );
    try {
      return await ends.whenEmpty(milliseconds, signal);
    } finally {
      timer.cancel();
    }
  }

  /** Call before the control channels close. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#retry?.cancel();
    this.#isQuiesceWanted = false;
    if (this.#atController === 'serving' || this.#components.controllers.all.length === 0) return;
    try {
      await this.#ask(ControlType.Dequiesce);
    } catch (error) {
      this.#components.log.warn(
        { error: describeError(error) },
        'dequiesce failed: the controller avoids terminators of this router until its next start',
      );
    }
  }

  /**
   * Only sends the request, as `ziti agent router quiesce` and `dequiesce` do. Resolves with the controller's answer.
   */
  async notifyController(type: typeof ControlType.Quiesce | typeof ControlType.Dequiesce): Promise<string> {
    if (this.#isStopping && type === ControlType.Quiesce) throw stopping();
    const before = this.#isQuiesceWanted;
    this.#isQuiesceWanted = type === ControlType.Quiesce;
    try {
      return await this.#ask(type);
    } catch (error) {
      this.#isQuiesceWanted = before;
      throw error;
    }
  }

  /** Asks the controller for the wanted state. A failed request is repeated later, and when a controller connects. */
  #reconcile(): void {
    const { controllers, log } = this.#components;
    const wanted = this.#isQuiesceWanted ? 'quiesced' : 'serving';
    if (wanted === this.#atController || this.#pending > 0 || controllers.all.length === 0) return;
    const asked = this.#ask(this.#isQuiesceWanted ? ControlType.Quiesce : ControlType.Dequiesce).catch(
      (error: unknown) => log.warn({ wanted, error: describeError(error) }, 'quiesce request to the controller failed'),
    );
    background(log, 'quiesce', asked);
  }

  /** Sends requests one after the other, so that the last one determines the controller's state. */
  #ask(type: typeof ControlType.Quiesce | typeof ControlType.Dequiesce): Promise<string> {
    const { controllers, marker } = this.#components;
    const send = async () => {
      if (type === ControlType.Quiesce) marker.set();
      this.#atController = 'unknown';
      const result = await controllers.leader.requestResult(new Message(type), { timeout: QUIESCE_TIMEOUT });
      this.#atController = type === ControlType.Quiesce ? 'quiesced' : 'serving';
      if (type === ControlType.Dequiesce) marker.clear();
      return result.body.toString();
    };
    this.#pending++;
    const asked = this.#requests.then(send);
    this.#requests = asked.then(
      () => {
        this.#pending--;
        this.#wait = 0;
        this.#retry?.cancel();
        this.#retry = undefined;
        this.#reconcile(); // the wanted state may have changed meanwhile
      },
      () => {
        this.#pending--;
        this.#retryLater(); // the caller handles the error
      },
    );
    return asked;
  }

  #retryLater(): void {
    if (this.#isClosed || this.#retry) return;
    this.#wait = nextBackoff(RETRY, this.#wait, systemRandom);
    this.#retry = this.#components.clock.after('quiesce', this.#wait, () => {
      this.#retry = undefined;
      this.#reconcile();
    });
  }
}

function stopping(): ProjectError {
  return new ProjectError('STOPPING', 'the router stops');
}
