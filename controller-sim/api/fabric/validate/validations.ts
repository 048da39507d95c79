// Serves the validations of the management channel (`ziti fabric validate`): answers a request at once with the number
// of results, and sends the results when the validation gets its turn.

import { create, toBinary } from '@bufbuild/protobuf';
import { describeError, ProjectError } from '#lib/errors.ts';
import type { TaskQueue } from '#lib/queue/task-queue.ts';
import { ProtocolError } from '#wire/errors.ts';
import { ValidateResponseSchema } from '#wire/gen/management_pb.js';
import { Message } from '#wire/message.ts';
import { ApiError } from '../../../errors/errors.ts';
import type { ManagementChannel } from '../management-channel.ts';
import { circuitsValidation } from './circuits.ts';
import { controllerDialersValidation } from './controller-dialers.ts';
import { identityConnectionsValidation } from './identity-connections.ts';
import { routerDataModelValidation } from './router-data-model.ts';
import { routerLinksValidation } from './router-links.ts';
import { ertTerminatorsValidation, sdkTerminatorsValidation } from './router-terminators.ts';
import { terminatorsValidation } from './terminators.ts';
import {
  type PreparedValidation,
  reasonOf,
  UNREADABLE,
  type Validation,
  type ValidationComponents,
} from './validation.ts';

const ALL: readonly Validation[] = [
  terminatorsValidation,
  routerLinksValidation,
  sdkTerminatorsValidation,
  ertTerminatorsValidation,
  routerDataModelValidation,
  identityConnectionsValidation,
  circuitsValidation,
  controllerDialersValidation,
];
const BY_TYPE: ReadonlyMap<number, Validation> = new Map(ALL.map((each) => [each.types.request, each]));

/** Answers a request for a validation. Returns false if the message is not one. */
export function startValidation(
  { services, queue }: { services: ValidationComponents; queue: TaskQueue },
  channel: ManagementChannel,
  request: Message,
): boolean {
  const validation = BY_TYPE.get(request.contentType);
  if (!validation) return false;
  const answer = (fields: { success: boolean; message?: string; count?: bigint }) =>
    channel.reply(request, new Message(validation.types.response, [], encoded(fields)));
  const reject = (why: string) => answer({ success: false, message: `${services.controllerId}: ${why}` });
  if (queue.depth >= queue.length) {
    reject('too many validations are waiting, retry later');
    return true;
  }
  let prepared: PreparedValidation;
  try {
    prepared = validation.prepare(services, request);
  } catch (error) {
    const prefix = error instanceof ProtocolError ? UNREADABLE : validation.rejectionPrefix;
    reject(`${prefix}${reasonOf(error)}`);
    if (!(error instanceof ApiError || error instanceof ProjectError)) throw error;
    return true;
  }
  answer({ success: true, count: BigInt(prepared.count) });
  const { origin, closed } = channel;
  const report = (type: number, body: Uint8Array) => channel.deliver(new Message(type, [], body));
  const run = (signal: AbortSignal) => prepared.run({ signal, origin, report });
  queue.add(run, { signal: closed }).catch((error: unknown) => {
    const fields = { type: request.contentType, error: describeError(error) };
    services.log.info(fields, 'validation ended early');
  });
  return true;
}

function encoded(fields: { success: boolean; message?: string; count?: bigint }): Uint8Array {
  return toBinary(ValidateResponseSchema, create(ValidateResponseSchema, fields));
}
