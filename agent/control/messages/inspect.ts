// InspectRequest (1013) in, InspectResponse (1014) out: an operator inspects the router.

import { create, toBinary } from '@bufbuild/protobuf';
import { background } from '#lib/background.ts';
import type { Log } from '#lib/log/log.ts';
import { InspectRequestSchema, InspectResponseSchema } from '#wire/gen/control_pb.js';
import { ControlType } from '#wire/gen/numbers.ts';
import { Message } from '#wire/message.ts';
import type { Inspections } from '../../inspect/inspections.ts';
import type { ControlHandler } from '../controllers.ts';

export interface InspectComponents {
  log: Log;
  inspections: Inspections;
}

export function onInspect({ log, inspections }: InspectComponents): ControlHandler {
  return (controller, message) => {
    const answered = inspectAnswer(inspections, message).then((answer) => controller.channel.reply(message, answer));
    background(log, 'inspection', answered);
  };
}

/** Answers an InspectRequest. @throws ProtocolError at once for an unreadable one */
export function inspectAnswer(inspections: Inspections, request: Message): Promise<Message> {
  const { requestedValues } = request.decode(InspectRequestSchema);
  return answerTo(inspections, requestedValues);
}

async function answerTo(inspections: Inspections, requestedValues: readonly string[]): Promise<Message> {
  const { values, errors } = await inspections.answer(requestedValues);
  const response = create(InspectResponseSchema, { success: errors.length === 0, errors, values });
  return new Message(ControlType.InspectResponse, [], toBinary(InspectResponseSchema, response));
}
