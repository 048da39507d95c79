// The terminators of the tunneler: what it asks controllers for (reference fact: tunnel, section 3.4).

import { create, toBinary } from '@bufbuild/protobuf';
import { CreateTunnelTerminatorRequestV2Schema, TerminatorPrecedence } from '#wire/gen/edge_control_pb.js';
import { EdgeControlType } from '#wire/gen/numbers.ts';
import { Message } from '#wire/message.ts';
import type { Controllers } from '../../control/controllers.ts';
import type { Terminators } from '../terminators.ts';
import type { Precedence } from './host-config.ts';

export interface TunnelTerminator {
  readonly id: string;
  readonly serviceId: string;
  readonly serviceName: string;
  readonly cost: number;
  readonly precedence: Precedence;
  readonly instanceId: string;
}

const PRECEDENCES: Readonly<Record<Precedence, TerminatorPrecedence>> = {
  default: TerminatorPrecedence.DEFAULT,
  required: TerminatorPrecedence.REQUIRED,
  failed: TerminatorPrecedence.FAILED,
};

export class TunnelTerminators {
  readonly #terminators: Terminators;
  readonly #controllers: Controllers;

  constructor(terminators: Terminators, controllers: Controllers) {
    this.#terminators = terminators;
    this.#controllers = controllers;
  }

  add(terminator: TunnelTerminator): void {
    const controllers = this.#controllers;
    this.#terminators.add({
      ...terminator,
      binding: 'tunnel',
      controller: () => (controllers.all.length > 0 ? controllers.leader : undefined),
      request: (now) => requestFor(terminator, now),
    });
  }

  remove(id: string): void {
    this.#terminators.remove(id);
  }
}

function requestFor({ id, serviceId, cost, precedence, instanceId }: TunnelTerminator, now: number): Message {
  const request = create(CreateTunnelTerminatorRequestV2Schema, {
    serviceId,
    address: id,
    cost,
    precedence: PRECEDENCES[precedence],
    instanceId,
    startTime: BigInt(Math.round(now)),
  });
  const body = toBinary(CreateTunnelTerminatorRequestV2Schema, request);
  return new Message(EdgeControlType.CreateTunnelTerminatorV2, [], body);
}
