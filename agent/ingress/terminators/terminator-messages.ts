// The messages about terminators between this router and its controllers (reference fact: control channel, section
// 4.6).

import { create, toBinary } from '@bufbuild/protobuf';
import { ProjectError } from '#lib/errors.ts';
import {
  RemoveTerminatorsRequestSchema,
  type RouterTerminatorState,
  ValidateTerminatorsV2ResponseSchema,
} from '#wire/gen/control_pb.js';
import {
  CreateTerminatorResult,
  CreateTerminatorV2ResponseSchema,
  CreateTunnelTerminatorResponseV2Schema,
} from '#wire/gen/edge_control_pb.js';
import { ControlType, EdgeControlHeader, EdgeControlType, RetryHint } from '#wire/gen/numbers.ts';
import { Message } from '#wire/message.ts';

/** A controller's answer to a request for a terminator. */
export interface TerminatorAnswer {
  readonly terminatorId: string;
  readonly result: CreateTerminatorResult;
  readonly msg: string;
  readonly errorCode?: number;
  readonly retryHint?: number;
}

/** A controller rejects a change of a terminator. The same change may succeed later, unless the controller says no. */
export class TerminatorRejectedError extends ProjectError {
  constructor(answer: Message) {
    const { contentType, body } = answer;
    const hint = answer.uint32(EdgeControlHeader.RetryHint);
    const retriable = hint !== RetryHint.StartOver && hint !== RetryHint.NotRetriable;
    super('TERMINATOR_REJECTED', body.toString() || `the controller answered with message ${contentType}`, {
      retriable,
    });
  }
}

export function decodeAnswer(message: Message): TerminatorAnswer {
  switch (message.contentType) {
    case EdgeControlType.CreateTunnelTerminatorV2Response:
      return message.decode(CreateTunnelTerminatorResponseV2Schema);
    case EdgeControlType.CreateTerminatorV2Response:
      return message.decode(CreateTerminatorV2ResponseSchema);
    default:
      return { terminatorId: '', result: CreateTerminatorResult.FAILED_OTHER, msg: message.body.toString() };
  }
}

export function removeTerminators(terminatorIds: string[]): Message {
  const request = create(RemoveTerminatorsRequestSchema, { terminatorIds });
  return new Message(ControlType.RemoveTerminators, [], toBinary(RemoveTerminatorsRequestSchema, request));
}

/** Answers a controller's validation: the states of terminators, by id. */
export function validatedTerminators(states: Record<string, RouterTerminatorState>): Message {
  const response = create(ValidateTerminatorsV2ResponseSchema, { states });
  const body = toBinary(ValidateTerminatorsV2ResponseSchema, response);
  return new Message(ControlType.ValidateTerminatorsV2Response, [], body);
}
