// Routers remove their terminators or change cost and precedence (reference fact: control channel, section 4.6).

import { describeError, ProjectError } from '#lib/errors.ts';
import { MAX_COST } from '#model/terminator.ts';
import {
  RemoveTerminatorRequestSchema as RemoveFabricTerminatorSchema,
  RemoveTerminatorsRequestSchema,
  UpdateTerminatorRequestSchema as UpdateFabricTerminatorSchema,
} from '#wire/gen/control_pb.js';
import {
  RemoveTerminatorRequestSchema,
  UpdateTerminatorRequestSchema,
  UpdateTunnelTerminatorRequestSchema,
} from '#wire/gen/edge_control_pb.js';
import { EdgeControlType, EdgeErrorCode, ResultHeader, RetryHint } from '#wire/gen/numbers.ts';
import { encodeUint32 } from '#wire/header-values.ts';
import { Message, resultMessage } from '#wire/message.ts';
import type { ConnectedRouter } from '../../network/connected-router.ts';
import type { State } from '../../state/state.ts';
import type { ControlContext, ControlHandler } from '../context.ts';
import { EdgeError, edgeErrorMessage } from './edge-error.ts';
import { PRECEDENCES } from './terminators.ts';

const SERVER_BUSY = [[ResultHeader.ErrorCode, encodeUint32(1)]] as const;
const NOT_RETRIABLE = { hint: RetryHint.NotRetriable };

/** Ids of other routers and unknown ids are ignored: the router only reports that it lacks them. */
export const onRemoveTerminators: ControlHandler<'state'> = async (context, router, message) => {
  const { terminatorIds } = message.decode(RemoveTerminatorsRequestSchema);
  try {
    await removeOwn(context, router, terminatorIds);
    router.channel.reply(message, resultMessage(true));
  } catch (error) {
    const headers = error instanceof ProjectError && error.retriable ? SERVER_BUSY : [];
    router.channel.reply(message, resultMessage(false, describeError(error), headers));
  }
};

export const onRemoveFabricTerminator: ControlHandler<'state'> = async (context, router, message) => {
  const { terminatorId } = message.decode(RemoveFabricTerminatorSchema);
  const own = context.state.tables.terminator.get(terminatorId)?.routerId === router.id;
  await removeOwn(context, router, [terminatorId]);
  router.channel.reply(message, resultMessage(own, own ? '' : `router ${router.id} has no terminator ${terminatorId}`));
};

/** For routers before 2.0. */
export const onRemoveEdgeTerminator: ControlHandler<'state'> = async (context, router, message) => {
  await removeOwn(context, router, [message.decode(RemoveTerminatorRequestSchema).terminatorId]);
  router.channel.reply(message, new Message(EdgeControlType.RemoveTerminatorResponse));
};

/** For tunnelers of routers before 1.3. The body is the terminator's id. */
export const onRemoveTunnelTerminator: ControlHandler<'state'> = async ({ state }, router, message) => {
  const id = message.body.toString();
  try {
    await state.change((transaction) => {
      const known = transaction.get('terminator', id);
      if (known?.routerId !== router.id || known.binding !== 'tunnel')
        throw new EdgeError(
          EdgeErrorCode.InvalidTerminator,
          `router ${router.id} has no terminator ${id} of its tunneler`,
          NOT_RETRIABLE,
        );
      transaction.delete('terminator', id);
    });
    router.channel.reply(message, new Message(EdgeControlType.RemoveTunnelTerminatorResponse));
  } catch (error) {
    router.channel.reply(message, edgeErrorMessage(error));
  }
};

export const onUpdateTerminator: ControlHandler<'state'> = async (context, router, message) => {
  const request = message.decode(UpdateTerminatorRequestSchema);
  await update(context, router, message, request, EdgeControlType.UpdateTerminatorResponse);
};

export const onUpdateTunnelTerminator: ControlHandler<'state'> = async (context, router, message) => {
  const request = message.decode(UpdateTunnelTerminatorRequestSchema);
  await update(context, router, message, request, EdgeControlType.UpdateTunnelTerminatorResponse);
};

/** For a fabric without identities. */
export const onUpdateFabricTerminator: ControlHandler<'state'> = async ({ state }, router, message) => {
  const request = message.decode(UpdateFabricTerminatorSchema);
  try {
    await change(state, router, request);
    router.channel.reply(message, resultMessage(true));
  } catch (error) {
    router.channel.reply(message, resultMessage(false, describeError(error)));
  }
};

async function removeOwn(
  { state }: Pick<ControlContext, 'state'>,
  router: ConnectedRouter,
  ids: readonly string[],
): Promise<void> {
  await state.change((transaction) => {
    for (const id of ids)
      if (transaction.get('terminator', id)?.routerId === router.id) transaction.delete('terminator', id);
  });
}

interface RequestedChange {
  readonly terminatorId: string;
  readonly updateCost: boolean;
  readonly cost: number;
  readonly updatePrecedence: boolean;
  readonly precedence: number;
}

async function update(
  { state }: Pick<ControlContext, 'state'>,
  router: ConnectedRouter,
  message: Message,
  request: RequestedChange,
  answerType: number,
): Promise<void> {
  try {
    await change(state, router, request);
    router.channel.reply(message, new Message(answerType));
  } catch (error) {
    router.channel.reply(message, edgeErrorMessage(error));
  }
}

/** Rejects with EdgeError for terminators of other routers, and for invalid costs and precedences. */
async function change(state: State, router: ConnectedRouter, request: RequestedChange): Promise<void> {
  await state.change((transaction) => {
    const known = transaction.get('terminator', request.terminatorId);
    if (known?.routerId !== router.id)
      throw new EdgeError(
        EdgeErrorCode.InvalidTerminator,
        `router ${router.id} has no terminator ${request.terminatorId}`,
        NOT_RETRIABLE,
      );
    if (request.updateCost && request.cost > MAX_COST)
      throw new EdgeError(EdgeErrorCode.InvalidCost, `cost exceeds ${MAX_COST}`, NOT_RETRIABLE);
    const precedence = PRECEDENCES[request.precedence];
    if (request.updatePrecedence && !precedence)
      throw new EdgeError(EdgeErrorCode.InvalidPrecedence, `invalid precedence: ${request.precedence}`, NOT_RETRIABLE);
    transaction.patch('terminator', known.id, {
      ...(request.updateCost && { cost: request.cost }),
      ...(request.updatePrecedence && precedence && { precedence }),
    });
  });
}
