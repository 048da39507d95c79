// Asks the owning controllers whether circuits that nobody uses still exist. Nothing is removed here: a controller that
// does not know a circuit answers with an unroute (reference fact: config, section 9).

import { create, toBinary } from '@bufbuild/protobuf';
import type { Clock, Timer } from '#lib/clock.ts';
import { describeError } from '#lib/errors.ts';
import type { Log } from '#lib/log.ts';
import { CircuitConfirmationSchema } from '#wire/gen/control_pb.js';
import { ControlType } from '#wire/gen/numbers.ts';
import { Message } from '#wire/message.ts';
import type { CircuitTable } from './circuit-table.ts';
import type { FaultReceiver } from './faulter.ts';

export interface IdleScannerComponents {
  clock: Clock;
  log: Log;
  circuits: CircuitTable;
  controllers: { byId(id: string): FaultReceiver | undefined };
}

export interface IdleScannerInit {
  /** Milliseconds between scans; 0 or less never scans. */
  interval: number;
  /** Milliseconds without traffic after which a circuit is asked about. */
  timeout: number;
}

export class IdleScanner {
  readonly #components: IdleScannerComponents;
  readonly #init: IdleScannerInit;
  readonly #timer: Timer | undefined;

  constructor(components: IdleScannerComponents, init: IdleScannerInit) {
    this.#components = components;
    this.#init = init;
    this.#timer =
      init.interval > 0 ? components.clock.every('idle circuits', init.interval, () => this.scan()) : undefined;
  }

  scan(): void {
    const byOwner = Map.groupBy(this.#components.circuits.idle(this.#init.timeout), ({ circuit }) => circuit.owner);
    for (const [owner, idle] of byOwner) {
      const idleTimes = Object.fromEntries(idle.map((each) => [each.circuit.id, BigInt(Math.round(each.idle * 1e6))]));
      const body = toBinary(
        CircuitConfirmationSchema,
        create(CircuitConfirmationSchema, { circuitIds: Object.keys(idleTimes), idleTimes }),
      );
      try {
        const controller = this.#components.controllers.byId(owner);
        if (controller) controller.send(new Message(ControlType.CircuitConfirmation, [], body));
        else this.#components.log.debug({ owner, circuits: idle.length }, 'idle circuits wait for their controller');
      } catch (error) {
        this.#components.log.debug({ owner, error: describeError(error) }, 'idle circuits could not be confirmed');
      }
    }
  }

  close(): void {
    this.#timer?.cancel();
  }
}
