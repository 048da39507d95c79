// Collects circuits whose traffic could not be forwarded and reports them to their controllers in batches: to the owner
// if it is known, else to all (reference fact: config, section 9). A report that cannot be sent is lost; the next
// payload that fails creates a new one.

import { create, toBinary } from '@bufbuild/protobuf';
import type { Clock, Timer } from '#lib/clock.ts';
import { describeError } from '#lib/errors.ts';
import type { Log } from '#lib/log.ts';
import { FaultSchema, FaultSubject } from '#wire/gen/control_pb.js';
import { ControlType } from '#wire/gen/numbers.ts';
import { Message } from '#wire/message.ts';

/** A controller that receives fault reports. */
export interface FaultReceiver {
  readonly id: string;
  send(message: Message): void;
}

export interface FaulterComponents {
  clock: Clock;
  log: Log;
  controllers: { readonly all: readonly FaultReceiver[]; byId(id: string): FaultReceiver | undefined };
  /** Counts reported forwarding faults. */
  faults: { mark(count?: number): void };
}

/** Limit on different circuits in the queue; the next payload of a later circuit reports it. */
const MOST_CIRCUITS = 10_000;
/** Circuits in one message. */
const MOST_PER_MESSAGE = 1_000;
/** Spaces separate the ids in a report. An unknown id that contains a space would therefore name other circuits. */
const REPORTABLE_ID = /^[!-~]+$/;

export class Faulter {
  readonly #components: FaulterComponents;
  readonly #circuits = new Map<string, string>();
  readonly #timer: Timer | undefined;

  /** @param interval Milliseconds between reports; at 0 or less, faults are only counted. */
  constructor(components: FaulterComponents, interval: number) {
    this.#components = components;
    this.#timer = interval > 0 ? components.clock.every('forwarding faults', interval, () => this.flush()) : undefined;
  }

  /** Queues a circuit for the next report; `owner` is the id of its controller, or empty if unknown. */
  report(circuitId: string, owner: string): void {
    this.#components.faults.mark();
    if (this.#timer && this.#circuits.size < MOST_CIRCUITS && REPORTABLE_ID.test(circuitId))
      this.#circuits.set(circuitId, owner);
  }

  /** Sends the queued reports. */
  flush(): void {
    if (this.#circuits.size === 0) return;
    const byOwner = Map.groupBy(this.#circuits, ([, owner]) => owner);
    this.#circuits.clear();
    for (const [owner, entries] of byOwner) {
      for (let first = 0; first < entries.length; first += MOST_PER_MESSAGE) {
        const some = entries.slice(first, first + MOST_PER_MESSAGE);
        this.#report(owner, some.map(([circuitId]) => circuitId).join(' '));
      }
    }
  }

  #report(owner: string, ids: string): void {
    const known = owner === '' ? undefined : this.#components.controllers.byId(owner);
    if (known) this.#send(known, FaultSubject.FORWARD_FAULT, ids);
    else
      for (const controller of this.#components.controllers.all)
        this.#send(controller, FaultSubject.UNKNOWN_OWNER_FORWARD_FAULT, ids);
  }

  close(): void {
    this.#timer?.cancel();
  }

  #send(receiver: FaultReceiver, subject: FaultSubject, id: string): void {
    try {
      receiver.send(new Message(ControlType.Fault, [], toBinary(FaultSchema, create(FaultSchema, { subject, id }))));
    } catch (error) {
      this.#components.log.debug(
        { controller: receiver.id, error: describeError(error) },
        'forwarding faults could not be reported',
      );
    }
  }
}
