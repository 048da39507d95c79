// Where circuits end: the binding of a route decides who dials. Each binding is one function; which bindings there are is said
// when the router is built.

import type { Log } from '#lib/log.ts';
import { RouteErrorCode } from '#wire/gen/numbers.ts';
import type { CircuitEnd } from '../forwarder/destination.ts';
import type { CircuitEnds } from '../xgress/circuit-ends.ts';
import type { Xgress, XgressClient } from '../xgress/xgress.ts';
import { EgressError } from './dial-errors.ts';

export type PeerData = ReadonlyMap<number, Buffer>;

export interface EgressRequest {
  readonly circuitId: string;
  /** Address of the end that is made, given by the controller. */
  readonly address: string;
  /** The address to dial; its form depends on the binding. */
  readonly destination: string;
  readonly peerData: PeerData;
  /** Milliseconds that are left for dialing; 0 when the controller gave no time. */
  readonly timeLeft: number;
  readonly tags: Readonly<Record<string, string>>;
  /** Id of the controller that makes the circuit. */
  readonly owner: string;
  readonly signal: AbortSignal;
}

/** A service that answers: its client, and what the other end is told. */
export interface DialedEgress {
  readonly client: XgressClient & { attach(xgress: Xgress): void };
  readonly peerData: PeerData;
  /** `xgress/transport`, … for trace route. */
  readonly hopType: string;
  /** Gives the connection up again, when the circuit cannot be made after all. */
  abandon(): void;
  /** The end is made and open. */
  opened?(): void;
}

/** A host whose flow control is its own: it is the end of the circuit itself. */
export interface DialedRelay {
  readonly relay: CircuitEnd & { open(ends: CircuitEnds): void };
  readonly peerData: PeerData;
  abandon(): void;
}

export type EgressDialer = (request: EgressRequest) => Promise<DialedEgress | DialedRelay>;

export class Egress {
  readonly #dialers = new Map<string, EgressDialer>();
  readonly #log: Log;

  constructor(log: Log) {
    this.#log = log;
  }

  /** Sets who dials for a binding. */
  use(binding: string, dialer: EgressDialer): void {
    this.#dialers.set(binding, dialer);
  }

  has(binding: string): boolean {
    return this.#dialers.has(binding);
  }

  /** Rejects with EgressError or a system error; routeErrorCodeOf tells the number for the controller. */
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
