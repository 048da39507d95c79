// InspectRequest (1013) in, InspectResponse (1014) out: an operator looks into the router.

import { create, toBinary } from '@bufbuild/protobuf';
import { background } from '#lib/background.ts';
import type { Log } from '#lib/log.ts';
import { InspectRequestSchema, InspectResponseSchema } from '#wire/gen/control_pb.js';
import { ControlType } from '#wire/gen/numbers.ts';
import { Message } from '#wire/message.ts';
import type { InspectedValues } from '../../inspect/inspections.ts';
import type { ControlHandler } from '../controllers.ts';

export interface InspectComponents {
  log: Log;
  inspect(names: readonly string[]): Promise<InspectedValues>;
}

export function onInspect({ log, inspect }: InspectComponents): ControlHandler {
  return (controller, message) => {
    const { requestedValues } = message.decode(InspectRequestSchema);
    const answered = inspect(requestedValues).then(({ values, errors }) => {
      const response = create(InspectResponseSchema, { success: errors.length === 0, errors, values });
      const body = toBinary(InspectResponseSchema, response);
      controller.channel.reply(message, new Message(ControlType.InspectResponse, [], body));
    });
    background(log, 'inspection', answered);
  };
}
