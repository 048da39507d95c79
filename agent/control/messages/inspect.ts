// InspectRequest (1013) in, InspectResponse (1014) out: an operator looks into the router. Names that nobody answers get no value.

import { create, toBinary } from '@bufbuild/protobuf';
import { describeError } from '#lib/errors.ts';
import { InspectRequestSchema, InspectResponseSchema } from '#wire/gen/control_pb.js';
import { ControlType } from '#wire/gen/numbers.ts';
import { Message } from '#wire/message.ts';
import type { ControlHandler } from '../controllers.ts';

/** Answers a name with something that becomes JSON, or undefined when it does not know it. */
export type Inspection = (name: string) => unknown;

export function onInspect(routerId: string, inspect: Inspection): ControlHandler {
  return (controller, message) => {
    const { requestedValues } = message.decode(InspectRequestSchema);
    const values: { name: string; value: string }[] = [];
    const errors: string[] = [];
    for (const name of requestedValues) {
      try {
        const found = inspect(name);
        if (found !== undefined) values.push({ name, value: JSON.stringify(found) });
      } catch (error) {
        errors.push(`${routerId}: ${name}: ${describeError(error)}`);
      }
    }
    const response = create(InspectResponseSchema, { success: errors.length === 0, errors, values });
    controller.channel.reply(
      message,
      new Message(ControlType.InspectResponse, [], toBinary(InspectResponseSchema, response)),
    );
  };
}
