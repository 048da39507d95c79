// The terminators of the tunneler: requests to controllers, and reports of the health of the hosted services (reference
// fact: tunnel, section 3.4).

import { create, toBinary } from '@bufbuild/protobuf';
import type { Log } from '#lib/log/log.ts';
import {
  CreateTunnelTerminatorRequestV2Schema,
  TerminatorPrecedence,
  UpdateTunnelTerminatorRequestSchema,
} from '#wire/gen/edge_control_pb.js';
import { EdgeControlHeader, EdgeControlType } from '#wire/gen/numbers.ts';
import { encodeBool } from '#wire/header-values.ts';
import { Message } from '#wire/message.ts';
import type { Controllers } from '../../control/controllers.ts';
import type { WeightChange } from '../terminators/terminator-change.ts';
import type { Terminators } from '../terminators/terminators.ts';
import type { Weight } from './health/check-state.ts';
import type { Precedence } from './host-config.ts';

export interface TunnelTerminator extends Weight {
  readonly id: string;
  readonly serviceId: string;
  readonly serviceName: string;
  readonly instanceId: string;
}

interface HostedTerminator {
  readonly terminator: TunnelTerminator;
  weight: Weight;
  /** Its weight at the controller may be another one. */
  readonly reports: boolean;
}

const PRECEDENCES: Readonly<Record<Precedence, TerminatorPrecedence>> = {
  default: TerminatorPrecedence.DEFAULT,
  required: TerminatorPrecedence.REQUIRED,
  failed: TerminatorPrecedence.FAILED,
};

export class TunnelTerminators {
  readonly #terminators: Pick<Terminators, 'add' | 'change' | 'remove'>;
  readonly #controllers: Pick<Controllers, 'all' | 'leader'>;
  readonly #log: Log;
  readonly #kept = new Map<string, HostedTerminator>();

  constructor(
    terminators: Pick<Terminators, 'add' | 'change' | 'remove'>,
    controllers: Pick<Controllers, 'all' | 'leader'>,
    log: Log,
  ) {
    this.#terminators = terminators;
    this.#controllers = controllers;
    this.#log = log;
  }

  /**
   * @param isChecked The weight follows health checks. An earlier process may have reported another one, and
   * controllers
   *   ignore the weight in a request to create a terminator that exists. So it is also reported after the request, even
   *   when the checks are removed later.
   */
  add(terminator: TunnelTerminator, { isChecked }: { isChecked: boolean }): void {
    const controllers = this.#controllers;
    const { id, serviceName, instanceId } = terminator;
    const reports = isChecked || this.#kept.get(id)?.reports === true;
    const kept: HostedTerminator = { terminator, weight: terminator, reports };
    this.#kept.set(id, kept);
    this.#terminators.add({
      id,
      serviceName,
      instanceId,
      get cost() {
        return kept.weight.cost;
      },
      get precedence() {
        return kept.weight.precedence;
      },
      binding: 'tunnel',
      controller: () => (controllers.all.length > 0 ? controllers.leader : undefined),
      request: (now) => createRequest(kept, now),
      change: (change) => changeRequest(id, change),
      established: () => reports && this.#report(kept),
    });
  }

  remove(id: string): void {
    this.#kept.delete(id);
    this.#terminators.remove(id);
  }

  setWeight(id: string, weight: Weight): void {
    const kept = this.#kept.get(id);
    if (!kept || isSame(kept.weight, weight)) return;
    kept.weight = weight;
    this.#report(kept);
  }

  /** Reports the result of a health check to a controller. */
  sendHealthEvent(id: string, isPassing: boolean): void {
    const headers = [
      [EdgeControlHeader.TerminatorId, id],
      [EdgeControlHeader.CheckPassed, encodeBool(isPassing)],
    ] as const;
    const [controller] = this.#controllers.all;
    if (!controller?.channel.trySend(new Message(EdgeControlType.TunnelHealthEvent, headers)))
      this.#log.info({ terminatorId: id }, 'health of a hosted service could not be reported');
  }

  #report({ terminator, weight }: HostedTerminator): void {
    this.#terminators.change(terminator.id, { cost: weight.cost, precedence: PRECEDENCES[weight.precedence] });
  }
}

function isSame(a: Weight, b: Weight): boolean {
  return a.cost === b.cost && a.precedence === b.precedence;
}

function createRequest({ terminator, weight }: HostedTerminator, now: number): Message {
  const { id, serviceId, instanceId } = terminator;
  const request = create(CreateTunnelTerminatorRequestV2Schema, {
    serviceId,
    address: id,
    cost: weight.cost,
    precedence: PRECEDENCES[weight.precedence],
    instanceId,
    startTime: BigInt(Math.round(now)),
  });
  const body = toBinary(CreateTunnelTerminatorRequestV2Schema, request);
  return new Message(EdgeControlType.CreateTunnelTerminatorV2, [], body);
}

function changeRequest(terminatorId: string, { cost = 0, precedence = TerminatorPrecedence.DEFAULT }: WeightChange) {
  const change = { terminatorId, cost, updateCost: true, precedence, updatePrecedence: true };
  const body = toBinary(UpdateTunnelTerminatorRequestSchema, create(UpdateTunnelTerminatorRequestSchema, change));
  const request = new Message(EdgeControlType.UpdateTunnelTerminator, [], body);
  return { request, answerType: EdgeControlType.UpdateTunnelTerminatorResponse };
}
