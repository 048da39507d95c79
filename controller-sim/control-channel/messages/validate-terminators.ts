// Validates the stored terminators of a router when it connects, and deletes those that it no longer has (reference
// fact: control channel, section 4.6).

import { create, toBinary } from '@bufbuild/protobuf';
import { ValidateTerminatorsV2RequestSchema, ValidateTerminatorsV2ResponseSchema } from '#wire/gen/control_pb.js';
import { ControlType } from '#wire/gen/numbers.ts';
import { Message } from '#wire/message.ts';
import type { ConnectedRouter } from '../../network/connected-router.ts';
import type { ControlContext, ControlHandler } from '../context.ts';

export function validateTerminators({ state }: ControlContext, router: ConnectedRouter): void {
  const own = state.tables.terminator.referring('routerId', router.id);
  if (own.length === 0) return;
  const terminators = own.map(({ id, binding, address }) => ({ id, binding, address }));
  const request = create(ValidateTerminatorsV2RequestSchema, { terminators, fixInvalid: true, postCreate: true });
  const body = toBinary(ValidateTerminatorsV2RequestSchema, request);
  router.channel.trySend(new Message(ControlType.ValidateTerminatorsV2, [], body));
}

/** Terminators that the answer omits remain. */
export const onValidatedTerminators: ControlHandler = async ({ state, log }, router, message) => {
  const { states } = message.decode(ValidateTerminatorsV2ResponseSchema);
  const invalid = Object.entries(states).filter(([, { valid }]) => !valid);
  if (invalid.length === 0) return;
  await state.change((transaction) => {
    for (const [id, { detail }] of invalid) {
      if (transaction.get('terminator', id)?.routerId !== router.id) continue;
      log.info({ terminatorId: id, routerId: router.id, detail }, 'terminator deleted: its router does not have it');
      transaction.delete('terminator', id);
    }
  });
};
