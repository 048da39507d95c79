// Reports faults of circuits to their controllers. Circuits whose traffic could not be forwarded are collected and
// reported in batches: to the owner if it is known, else to all (reference fact: config, section 9). Such a report that
// cannot be sent is lost; the next payload that fails creates a new one. A closed end is reported at once (reference
// fact: link, section 2.3). Nothing else tells the controller of it, so its report waits until it can be sent.

import { create, toBinary } from '@bufbuild/protobuf';
import { describeError } from '#lib/errors.ts';
import type { Log } from '#lib/log/log.ts';
import { BoundedMap } from '#lib/queue/bounded-map.ts';
import type { Clock, Timer } from '#lib/time/clock.ts';
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

/** Limit on different circuits in the queue; later ones are not reported. */
const MAX_CIRCUITS = 10_000;
/** Limit on closed ends that wait for a controller, which may never return; beyond it the oldest ones are lost. */
const MAX_ENDS = 10_000;
/** Controllers for which closed ends wait; beyond it those of the oldest one are lost. */
const MAX_OWNERS = 64;
/** Circuits in one message. */
const MAX_PER_MESSAGE = 1_000;
/** Spaces separate the ids in a report. An unknown id that contains a space would therefore name other circuits. */
const REPORTABLE_ID = /^[!-~]+$/;

export class Faulter {
  readonly #components: FaulterComponents;
  /** Owners by circuit id. */
  readonly #circuits = new Map<string, string>();
  /** Closed ends that could not be reported: owner → circuit id → subject. */
  readonly #ends = new BoundedMap<string, BoundedMap<string, FaultSubject>>(MAX_OWNERS);
  readonly #timer: Timer | undefined;

  /** @param interval Milliseconds between reports; at 0 or less, faults are only counted. */
  constructor(components: FaulterComponents, interval: number) {
    this.#components = components;
    this.#timer = interval > 0 ? components.clock.every('forwarding faults', interval, () => this.flush()) : undefined;
  }

  /** Queues a circuit for the next report; `owner` is the id of its controller, or empty if unknown. */
  report(circuitId: string, owner: string): void {
    this.#components.faults.mark();
    if (this.#timer && this.#circuits.size < MAX_CIRCUITS && REPORTABLE_ID.test(circuitId))
      this.#circuits.set(circuitId, owner);
  }

  /** Reports that an end of a circuit closed; `owner` is the id of the circuit's controller. */
  reportEnd(circuitId: string, subject: FaultSubject, owner: string): void {
    const controller = this.#components.controllers.byId(owner);
    if (controller && this.#send(controller, subject, circuitId)) return;
    const waiting = this.#ends.get(owner) ?? new BoundedMap<string, FaultSubject>(MAX_ENDS);
    this.#ends.set(owner, waiting.set(circuitId, subject));
  }

  /** Sends the queued reports. */
  flush(): void {
    this.#flushEnds();
    if (this.#circuits.size === 0) return;
    const byOwner = Map.groupBy(this.#circuits, ([, owner]) => owner);
    this.#circuits.clear();
    for (const [owner, entries] of byOwner) {
      for (let first = 0; first < entries.length; first += MAX_PER_MESSAGE) {
        const some = entries.slice(first, first + MAX_PER_MESSAGE);
        this.#report(owner, some.map(([circuitId]) => circuitId).join(' '));
      }
    }
  }

  #flushEnds(): void {
    for (const controller of this.#components.controllers.all) {
      const waiting = this.#ends.get(controller.id);
      if (!waiting) continue;
      for (const [circuitId, subject] of waiting) {
        if (!this.#send(controller, subject, circuitId)) break; // its queue is full
        waiting.delete(circuitId);
      }
      if (waiting.size === 0) this.#ends.delete(controller.id);
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

  #send(receiver: FaultReceiver, subject: FaultSubject, id: string): boolean {
    try {
      receiver.send(new Message(ControlType.Fault, [], toBinary(FaultSchema, create(FaultSchema, { subject, id }))));
      return true;
    } catch (error) {
      this.#components.log.debug(
        { controller: receiver.id, error: describeError(error) },
        'faults of circuits could not be reported',
      );
      return false;
    }
  }
}
