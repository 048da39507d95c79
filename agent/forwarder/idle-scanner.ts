// Asks the owning controllers whether circuits still exist: idle circuits at each scan, and circuits that lost a link
// at once, since the message that removed them may have been lost too. After a controller reconnects, it also asks
// about circuits whose other end is gone. A controller answers an unknown circuit with an unroute (reference fact:
// config, section 9). It never asks about working circuits, because a restarted controller knows none of them. Only
// circuits with a broken path whose controller is away end here: nobody else can move or end them.

import { create, toBinary } from '@bufbuild/protobuf';
import { describeError } from '#lib/errors.ts';
import type { Log } from '#lib/log/log.ts';
import type { Clock, Timer } from '#lib/time/clock.ts';
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
  /** Milliseconds without traffic after which a circuit counts as idle. */
  timeout: number;
}

/** Circuits in one message. */
const MAX_PER_MESSAGE = 1_000;

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
    const { forwarder, controllers, log } = this.#components;
    const idle = [...forwarder.circuits.idle(this.#init.timeout)];
    const isLost = (circuit: Circuit) => controllers.byId(circuit.owner) === undefined && this.#isBroken(circuit);
    const { lost = [], kept = [] } = Object.groupBy(idle, (circuit) => (isLost(circuit) ? 'lost' : 'kept'));
    for (const { id } of lost) forwarder.remove(id);
    if (lost.length > 0) log.info({ circuits: lost.length }, 'circuits without a path and a controller have ended');
    this.#confirm(kept);
  }

  /**
   * Asks about the circuits of a lost link. Those that see no new route are asked about again when their controller
   * reconnects.
   */
  onLinkLost(linkId: string): void {
    this.#confirm(this.#components.forwarder.circuits.suspect(linkId));
  }

  /** Asks again about suspect and idle circuits: the controller's messages since the disconnect did not arrive. */
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

  /** Whether a link of the circuit was lost and is not back, or its end here is gone. */
  #isBroken({ forwards }: Circuit): boolean {
    const { forwarder } = this.#components;
    return [...forwards.values()].some((address) => forwarder.destination(address) === undefined);
  }

  #confirm(circuits: readonly Circuit[]): void {
    for (const [owner, owned] of Map.groupBy(circuits, (circuit) => circuit.owner)) {
      for (let first = 0; first < owned.length; first += MAX_PER_MESSAGE)
        this.#send(owner, owned.slice(first, first + MAX_PER_MESSAGE));
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
      else log.debug({ owner, circuits: circuits.length }, 'controller is not connected, circuits are confirmed later');
    } catch (error) {
      log.debug({ owner, error: describeError(error) }, 'circuits could not be confirmed');
    }
  }

  close(): void {
    this.#timer?.cancel();
    this.#liveness.close();
  }
}
