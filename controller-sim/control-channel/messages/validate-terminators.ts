// Asks a router which of the stored terminators it has, and deletes those that it does not have: when it connects, and
// when a client requests it (reference fact: control channel, section 4.6).

import { create, toBinary } from '@bufbuild/protobuf';
import type { Log } from '#lib/log/log.ts';
import {
  type RouterTerminatorState,
  ValidateTerminatorsV2RequestSchema,
  ValidateTerminatorsV2ResponseSchema,
} from '#wire/gen/control_pb.js';
import { ControlType } from '#wire/gen/numbers.ts';
import { Message } from '#wire/message.ts';
import type { ConnectedRouter } from '../../network/connected-router.ts';
import type { Terminator } from '../../state/kinds/terminator.ts';
import type { State } from '../../state/state.ts';
import type { ControlContext } from '../context.ts';

/** Milliseconds for a router to answer; reference fact: one minute. */
export const ROUTER_TIMEOUT = 60_000;

export interface TerminatorQuestion {
  readonly fixInvalid: boolean;
  /** The router does not ask the hosts: it has just created the terminators, or it reconnects. */
  readonly postCreate: boolean;
  readonly signal?: AbortSignal;
}

/** The router's verdicts by id. It omits terminators that it cannot judge now. */
export async function askForTerminators(
  { channel }: ConnectedRouter,
  terminators: readonly Terminator[],
  { fixInvalid, postCreate, ...options }: TerminatorQuestion,
): Promise<ReadonlyMap<string, RouterTerminatorState>> {
  const asked = terminators.map(({ id, binding, address }) => ({ id, binding, address }));
  const request = create(ValidateTerminatorsV2RequestSchema, { terminators: asked, fixInvalid, postCreate });
  const body = toBinary(ValidateTerminatorsV2RequestSchema, request);
  const message = new Message(ControlType.ValidateTerminatorsV2, [], body);
  const answer = await channel.request(message, { timeout: ROUTER_TIMEOUT, ...options });
  return new Map(Object.entries(answer.decode(ValidateTerminatorsV2ResponseSchema).states));
}

/** Deletes terminators of a router, except those that now belong to another router. */
export async function deleteTerminators(
  { state, log }: { state: State; log: Log },
  routerId: string,
  ids: readonly string[],
): Promise<void> {
  await state.change((transaction) => {
    for (const terminatorId of ids) {
      if (transaction.get('terminator', terminatorId)?.routerId !== routerId) continue;
      log.info({ terminatorId, routerId }, 'terminator deleted: its router does not have it');
      transaction.delete('terminator', terminatorId);
    }
  });
}

/**
 * Validates the terminators of a router that connects. A router of this project creates those at once that the list
 * does not name, so an empty list is sent, too. Rejects if the router does not answer.
 */
export async function validateTerminators(
  context: Pick<ControlContext, 'state' | 'log'>,
  router: ConnectedRouter,
): Promise<void> {
  const own = context.state.tables.terminator.referring('routerId', router.id);
  const states = await askForTerminators(router, own, { fixInvalid: true, postCreate: true });
  const invalid = own.filter(({ id }) => states.get(id)?.valid === false).map(({ id }) => id);
  if (invalid.length > 0) await deleteTerminators(context, router.id, invalid);
}
