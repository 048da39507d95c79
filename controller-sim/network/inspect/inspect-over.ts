// Asks a router or another controller for named values.

import { create, toBinary } from '@bufbuild/protobuf';
import { parseJson } from '#lib/json/json.ts';
import type { Channel } from '#wire/channel/channel.ts';
import { InspectRequestSchema, InspectResponseSchema } from '#wire/gen/control_pb.js';
import { ControlType } from '#wire/gen/numbers.ts';
import { Message } from '#wire/message.ts';

/** The peer omits unknown values, and may answer some values beside errors. */
export async function inspectOver(
  channel: Pick<Channel, 'request'>,
  requestedValues: readonly string[],
  options: { readonly timeout: number; readonly signal?: AbortSignal },
): Promise<{ success: boolean; errors: readonly string[]; values: readonly { name: string; value: unknown }[] }> {
  const body = toBinary(InspectRequestSchema, create(InspectRequestSchema, { requestedValues: [...requestedValues] }));
  const answer = await channel.request(new Message(ControlType.InspectRequest, [], body), options);
  const { success, errors, values } = answer.decode(InspectResponseSchema);
  return { success, errors, values: values.map(({ name, value }) => ({ name, value: parsed(value) })) };
}

/** Structured values are sent as JSON. */
function parsed(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return text;
  }
}
