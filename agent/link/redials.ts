// Dials wanted links: at once or after a growing wait, through the dial queue, until they are established.

import { background } from '#lib/background.ts';
import { describeError, errorCode } from '#lib/errors.ts';
import type { Log } from '#lib/log/log.ts';
import type { TaskQueue } from '#lib/queue/task-queue.ts';
import type { Random } from '#lib/random.ts';
import { nextBackoff } from '#lib/time/backoff.ts';
import type { Clock, Timer } from '#lib/time/clock.ts';
import { remedyOf } from '#wire/connection/dial.ts';
import { type DialedLink, dialLink, type LinkDialComponents, type LinkDialRequest } from './link-dialer.ts';
import type { LinkRegistry } from './link-registry.ts';
import { canDial } from './link-states.ts';
import { type Peer, step, type WantedLink } from './wanted-link.ts';

export interface RedialComponents {
  clock: Clock;
  log: Log;
  random: Random;
  registry: LinkRegistry;
  dial: LinkDialComponents;
  dialQueue: TaskQueue;
  /** For metrics. */
  onDialFailed?(error: unknown): void;
}

/**
 * A link with a shorter life (milliseconds) counts as a failed dial if it is not the first: routers of the reference
 * answer a hello before they verify the dialer, and close the link if they cannot.
 */
const SHORT_LIFE = 10_000;

export class Redials {
  readonly #components: RedialComponents;
  readonly #peers: ReadonlyMap<string, Peer>;
  #due: { timer: Timer; at: number } | undefined;
  #closed = false;

  /** `peers`, with their wanted links, may change. */
  constructor(components: RedialComponents, peers: ReadonlyMap<string, Peer>) {
    this.#components = components;
    this.#peers = peers;
  }

  close(): void {
    this.#closed = true;
    this.#due?.timer.cancel();
  }

  dialSoon(peer: Peer, wanted: WantedLink): void {
    wanted.retryDelay = 0;
    wanted.nextDial = 0;
    this.dialWhenDue(peer, wanted);
  }

  /** Dials a link that is not up and not being dialed, now or when its wait is over. */
  dialWhenDue(peer: Peer, wanted: WantedLink): void {
    if (this.#closed || !canDial(wanted.state)) return;
    if (wanted.nextDial > this.#components.clock.monotonic()) {
      this.#wakeAt(wanted.nextDial);
      return;
    }
    step(wanted, 'dial', this.#components.log);
    wanted.attempts++;
    background(this.#components.log, 'link dial', this.#dial(peer, wanted));
  }

  /** Dials at once, or later if links of this kind were lost repeatedly soon after they came up. */
  dialAfterLoss(peer: Peer, wanted: WantedLink): void {
    const isShort = this.#components.clock.monotonic() - wanted.upSince < SHORT_LIFE;
    wanted.earlyLosses = isShort ? wanted.earlyLosses + 1 : 0;
    if (wanted.earlyLosses <= 1) {
      wanted.lossDelay = 0;
      this.dialSoon(peer, wanted);
      return;
    }
    // The wait grows although the dials succeed.
    wanted.retryDelay = wanted.lossDelay;
    this.#retryLater(peer, wanted, 0);
    wanted.lossDelay = wanted.retryDelay;
  }

  async #dial(peer: Peer, wanted: WantedLink): Promise<void> {
    const { registry, dial, dialQueue } = this.#components;
    const request: LinkDialRequest = {
      linkId: wanted.linkId,
      peerId: peer.id,
      peerVersion: peer.version,
      address: wanted.listener.address,
      iteration: wanted.attempts,
      dialer: wanted.dialer,
    };
    try {
      const task = async (signal: AbortSignal) => {
        // The peer may have dialed us during the wait.
        if (registry.byKey(wanted.key)) return undefined;
        return dialLink(dial, request, signal);
      };
      const dialed = await dialQueue.add(task, { discard: (late) => late && closeUnused(late) });
      if (dialed) this.#onDialed(peer, wanted, request, dialed);
    } catch (error) {
      // A later dial of the same link has its own outcome.
      if (request.iteration === wanted.attempts) this.#onDialFailed(peer, wanted, error);
    }
  }

  #onDialed(peer: Peer, wanted: WantedLink, request: LinkDialRequest, dialed: DialedLink): void {
    const { payloads, acknowledgements } = dialed;
    const { registry, random } = this.#components;
    if (wanted.state === 'destRemoved' || this.#closed) {
      closeUnused(dialed);
      return;
    }
    const link = registry.register({
      id: wanted.linkId,
      key: wanted.key,
      peerId: peer.id,
      peerVersion: peer.version,
      iteration: request.iteration,
      dialed: true,
      protocol: wanted.listener.protocol,
      address: wanted.listener.address,
      payloads,
      acknowledgements,
      stopGrowing: dialed.stopGrowing,
    });
    dialed.open();
    if (link || registry.byKey(wanted.key) || request.iteration !== wanted.attempts) return;
    if (!isDialOpen(wanted)) return;
    // The other side closed it before use, as a duplicate. A random wait keeps two routers from colliding again.
    step(wanted, 'dialError', this.#components.log);
    this.#retryLater(peer, wanted, 1_000 + random.next() * 3_000);
  }

  #onDialFailed(peer: Peer, wanted: WantedLink, error: unknown): void {
    if (this.#closed || !isDialOpen(wanted)) return;
    const queueFull = errorCode(error) === 'QUEUE_FULL';
    wanted.lastError = describeError(error);
    wanted.lastRemedy = remedyOf(error).remedy;
    step(wanted, queueFull ? 'queueFull' : 'dialError', this.#components.log);
    if (wanted.state === 'established') return;
    this.#components.onDialFailed?.(error);
    this.#retryLater(peer, wanted, 0);
    this.#components.log.warn(
      {
        linkId: wanted.linkId,
        peerId: peer.id,
        address: wanted.listener.address,
        attempts: wanted.attempts,
        retryIn: Math.round(wanted.retryDelay),
        error: wanted.lastError,
        ...remedyOf(error),
      },
      queueFull ? 'link dial rejected: queue full' : 'link dial failed',
    );
  }

  #retryLater(peer: Peer, wanted: WantedLink, extra: number): void {
    const policy = peer.healthy ? wanted.dialer.healthyBackoff : wanted.dialer.unhealthyBackoff;
    wanted.retryDelay = nextBackoff(policy, wanted.retryDelay, this.#components.random);
    wanted.nextDial = this.#components.clock.monotonic() + wanted.retryDelay + extra;
    this.#wakeAt(wanted.nextDial);
  }

  /** Arms one timer for all wanted links, due with the earliest of them. */
  #wakeAt(at: number): void {
    if (this.#closed || (this.#due && this.#due.at <= at)) return;
    this.#due?.timer.cancel();
    const wait = Math.max(1, at - this.#components.clock.monotonic());
    this.#due = { at, timer: this.#components.clock.after('link redial', wait, () => this.#onDue()) };
  }

  #onDue(): void {
    this.#due = undefined;
    for (const peer of this.#peers.values()) for (const wanted of peer.wanted.values()) this.dialWhenDue(peer, wanted);
  }
}

/**
 * Whether the result of the last dial still counts. It does not if the link was removed, or if the peer's links came up
 * and were lost meanwhile: the next dial is planned already.
 */
function isDialOpen({ state }: WantedLink): boolean {
  return state === 'dialing' || state === 'established';
}

/** The router does not want the link any more. */
function closeUnused({ open, payloads, acknowledgements }: DialedLink): void {
  open();
  payloads.close();
  acknowledgements.close();
}
