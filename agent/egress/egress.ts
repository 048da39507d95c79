// The terminating side of circuits: the binding of a route selects the dialer. Each binding is one function; the
// assembly registers the available bindings.

import type { Log } from '#lib/log/log.ts';
import { RouteErrorCode } from '#wire/gen/numbers.ts';
import type { PeerData } from '#wire/peer-data.ts';
import type { CircuitEnd } from '../forwarder/destination.ts';
import type { CircuitEnds } from '../xgress/circuit-ends.ts';
import type { Xgress } from '../xgress/xgress.ts';
import type { XgressClient } from '../xgress/xgress-client.ts';
import type { OwnRight } from '../xgress/xgress-components.ts';
import { EgressError } from './dial-errors.ts';

export interface EgressRequest {
  readonly circuitId: string;
  /** Address of the new end, assigned by the controller. */
  readonly address: string;
  /** The address to dial; its form depends on the binding. */
  readonly destination: string;
  readonly peerData: PeerData;
  /** Milliseconds left for dialing; 0 if the controller set no limit. */
  readonly timeLeft: number;
  readonly tags: Readonly<Record<string, string>>;
  /** Id of the controller that creates the circuit. */
  readonly owner: string;
  readonly signal: AbortSignal;
}

/** A service that answered: its client, and the peer data for the other end. */
export interface DialedEgress {
  readonly client: XgressClient & { attach(xgress: Xgress): void };
  readonly peerData: PeerData;
  /** For trace route: `xgress/transport`, … */
  readonly hopType: string;
  /** For a service that the router's own identity hosts. */
  readonly right?: OwnRight;
  /** Closes the connection if the circuit cannot be created. */
  abandon(): void;
  /** The end is created and open. */
  opened?(): void;
}

/** A host that does its own flow control: it is itself the end of the circuit. */
export interface DialedRelay {
  readonly relay: CircuitEnd & { open(ends: CircuitEnds): void };
  readonly peerData: PeerData;
  abandon(): void;
}

export type EgressDialer = (request: EgressRequest) => Promise<DialedEgress | DialedRelay>;

/**
 * Milliseconds for the dial of a request; 0 for no limit of our own. The controller ignores the result of a later one,
 * which would only occupy a worker of the dial queue: minutes for a host that does not answer.
 * @param configured 0 if the configuration sets no limit.
 */
export function dialTime({ timeLeft }: Pick<EgressRequest, 'timeLeft'>, configured: number): number {
  if (configured <= 0 || timeLeft <= 0) return Math.max(configured, timeLeft, 0);
  return Math.min(configured, timeLeft);
}

export class Egress {
  readonly #dialers = new Map<string, EgressDialer>();
  readonly #log: Log;

  constructor(log: Log) {
    this.#log = log;
  }

  /** Sets the dialer of a binding. */
  use(binding: string, dialer: EgressDialer): void {
    this.#dialers.set(binding, dialer);
  }

  has(binding: string): boolean {
    return this.#dialers.has(binding);
  }

  /** Rejects with EgressError or a system error; routeErrorCodeOf returns its code for the controller. */
  dial(binding: string, request: EgressRequest): Promise<DialedEgress | DialedRelay> {
    const dialer = this.#dialers.get(binding);
    if (!dialer) {
      this.#log.warn({ binding, circuitId: request.circuitId }, 'egress binding is not served by this router');
      return Promise.reject(
        new EgressError(RouteErrorCode.MisconfiguredTerminator, `this router does not serve the binding ${binding}`),
      );
    }
    return dialer(request);
  }
}
