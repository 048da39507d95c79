// Asks the owning controllers whether circuits still exist: those that nobody uses, and at once those that have lost a link, since
// the message that took them down may have been lost with it. When a controller is back, also those whose other end is gone. Nothing
// is removed here: a controller that does not know a circuit answers with an unroute (reference fact: config, section 9). Circuits
// that work are not asked about: a controller that was restarted knows none of them.

import { create, toBinary } from '@bufbuild/protobuf';
import type { Clock, Timer } from '#lib/clock.ts';
import { describeError } from '#lib/errors.ts';
import type { Log } from '#lib/log.ts';
import { CircuitConfirmationSchema } from '#wire/gen/control_pb.js';
import { ControlType } from '#wire/gen/numbers.ts';
import { Message } from '#wire/message.ts';
import type { Circuit } from './circuit-table.ts';
import type { FaultReceiver } from './faulter.ts';
import type { Forwarder } from './forwarder.ts';
import { LivenessCheck } from './liveness-check.ts';

export interface IdleScannerComponents {
  clock: Clock;
  log: Log;
  forwarder: Forwarder;
  controllers: { byId(id: string): FaultReceiver | undefined };
}

export interface IdleScannerInit {
  /** Milliseconds between scans; 0 or less never scans. */
  interval: number;
  /** Milliseconds without traffic after which a circuit is asked about. */
  timeout: number;
}

/** Circuits in one message. */
const MOST_PER_MESSAGE = 1_000;

export class IdleScanner {
  readonly #components: IdleScannerComponents;
  readonly #init: IdleScannerInit;
  readonly #timer: Timer | undefined;
  readonly #liveness: LivenessCheck;

  constructor(components: IdleScannerComponents, init: IdleScannerInit) {
    this.#components = components;
    this.#init = init;
    this.#liveness = new LivenessCheck(components, (silent) => this.#confirm(silent));
    this.#timer =
      init.interval > 0 ? components.clock.every('idle circuits', init.interval, () => this.scan()) : undefined;
  }

  scan(): void {
    this.#confirm([...this.#components.forwarder.circuits.idle(this.#init.timeout)]);
  }

  /** Circuits that this router has not seen again since are asked about once more when their controller comes back. */
  onLinkLost(linkId: string): void {
    this.#confirm(this.#components.forwarder.circuits.suspect(linkId));
  }

  /** The controller's decisions since it was lost did not arrive here. */
  onConnect(controllerId: string): void {
    const { forwarder, clock } = this.#components;
    const now = clock.monotonic();
    const asked: Circuit[] = [];
    const others: Circuit[] = [];
    for (const circuit of forwarder.circuits.values()) {
      if (circuit.owner !== controllerId) continue;
      const isIdle = now - circuit.lastActivity > this.#init.timeout;
      (circuit.isSuspect || isIdle ? asked : others).push(circuit);
    }
    for (const circuit of asked) circuit.isSuspect = false;
    this.#confirm(asked);
    this.#liveness.start(controllerId, others);
  }

  #confirm(circuits: readonly Circuit[]): void {
    for (const [owner, owned] of Map.groupBy(circuits, (circuit) => circuit.owner)) {
      for (let first = 0; first < owned.length; first += MOST_PER_MESSAGE)
        this.#send(owner, owned.slice(first, first + MOST_PER_MESSAGE));
    }
  }

  #send(owner: string, circuits: readonly Circuit[]): void {
    const { clock, controllers, log } = this.#components;
    const now = clock.monotonic();
    const idleTimes = Object.fromEntries(
      circuits.map(({ id, lastActivity }) => [id, BigInt(Math.max(0, Math.round((now - lastActivity) * 1e6)))]),
    );
    const body = toBinary(
      CircuitConfirmationSchema,
      create(CircuitConfirmationSchema, { circuitIds: Object.keys(idleTimes), idleTimes }),
    );
    try {
      const controller = controllers.byId(owner);
      if (controller) controller.send(new Message(ControlType.CircuitConfirmation, [], body));
      else log.debug({ owner, circuits: circuits.length }, 'circuits wait for their controller to be confirmed');
    } catch (error) {
      log.debug({ owner, error: describeError(error) }, 'circuits could not be confirmed');
    }
  }

  close(): void {
    this.#timer?.cancel();
    this.#liveness.close();
  }
}
