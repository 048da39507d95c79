// Creates terminators for hosts at the request of routers (reference fact: control channel, section 4.6).

import { create, toBinary } from '@bufbuild/protobuf';
import { describeError, ProjectError } from '#lib/errors.ts';
import { MAX_COST } from '#model/terminator.ts';
import { CreateTerminatorRequestSchema as CreateFabricTerminatorSchema } from '#wire/gen/control_pb.js';
import {
  CreateTerminatorResult,
  CreateTerminatorV2RequestSchema,
  CreateTerminatorV2ResponseSchema,
  CreateTunnelTerminatorRequestV2Schema,
  CreateTunnelTerminatorResponseV2Schema,
} from '#wire/gen/edge_control_pb.js';
import { EdgeControlType, EdgeErrorCode, RetryHint } from '#wire/gen/numbers.ts';
import { Message, resultMessage } from '#wire/message.ts';
import type { PeerDataEntry } from '#wire/peer-data.ts';
import { baseFields, existing } from '../../entities/common.ts';
import { defaultBinding } from '../../entities/terminator.ts';
import { CircuitError } from '../../network/circuit-failure.ts';
import type { ConnectedRouter } from '../../network/connected-router.ts';
import type { Precedence } from '../../state/entity.ts';
import type { Terminator } from '../../state/kinds/terminator.ts';
import type { Transaction } from '../../state/transaction.ts';
import type { ControlContext, ControlHandler } from '../context.ts';
import { EdgeError } from './edge-error.ts';
import { checkServiceSession, checkTunneler, type SessionComponents } from './session-check.ts';

export const PRECEDENCES: readonly Precedence[] = ['default', 'required', 'failed'];
const NOT_RETRIABLE = { hint: RetryHint.NotRetriable };

type Wanted = Pick<
  Terminator,
  'id' | 'serviceId' | 'binding' | 'cost' | 'precedence' | 'instanceId' | 'hostId' | 'peerData' | 'instanceSecret'
>;

/** For a client of the router. The answer carries the terminator's id; it is not a reply. */
export const onCreateTerminator: ControlHandler<keyof SessionComponents> = async (context, router, message) => {
  const request = message.decode(CreateTerminatorV2RequestSchema);
  const answer = { terminatorId: request.address, ...SUCCESS };
  try {
    const tokens = { session: request.sessionToken, apiSession: request.apiSessionToken };
    const { identity, service } = await checkServiceSession(context, router.id, tokens, 'Bind');
    await putTerminator(context, router, {
      ...wantedFields(request),
      id: request.address,
      serviceId: service.id,
      binding: 'edge',
      hostId: identity.id,
    });
  } catch (error) {
    Object.assign(answer, failure(error));
  }
  const body = toBinary(CreateTerminatorV2ResponseSchema, create(CreateTerminatorV2ResponseSchema, answer));
  router.channel.trySend(new Message(EdgeControlType.CreateTerminatorV2Response, [], body));
};

/**
 * For a fabric without identities: the router names service, binding and address, and the controller assigns the id.
 * reference fact: any router may host any service, with any instance id. It changes and removes only its own.
 */
export const onCreateFabricTerminator: ControlHandler<'state'> = async ({ state }, router, message) => {
  const request = message.decode(CreateFabricTerminatorSchema);
  const { serviceId, address } = request;
  const binding = request.binding || defaultBinding(address);
  const answer = (isDone: boolean, text: string) => router.channel.reply(message, resultMessage(isDone, text));
  if (request.cost > MAX_COST) {
    answer(false, `cost exceeds ${MAX_COST}`);
    return;
  }
  const id = state.ids.long();
  try {
    await state.change((transaction) => {
      existing(transaction, 'service', serviceId);
      existing(transaction, 'router', router.id);
      if (address === '') throw new ProjectError('TERMINATOR', 'the address is required');
      const fields = { ...wantedFields(request), serviceId, binding, address, hostId: '', routerId: router.id };
      transaction.put('terminator', { ...baseFields(transaction, id), ...fields });
    });
    answer(true, id);
  } catch (error) {
    answer(false, describeError(error));
  }
};

/** For the router's own tunneler. */
export const onCreateTunnelTerminator: ControlHandler<'state' | 'access' | 'clock'> = async (
  context,
  router,
  message,
) => {
  const request = message.decode(CreateTunnelTerminatorRequestV2Schema);
  const answer = { terminatorId: request.address, startTime: request.startTime, ...SUCCESS };
  try {
    const { identity, service } = checkTunneler(
      context,
      router.id,
      context.state.tables.service.get(request.serviceId),
      'Bind',
    );
    await putTerminator(context, router, {
      ...wantedFields(request),
      id: request.address,
      serviceId: service.id,
      binding: 'tunnel',
      hostId: identity.id,
    });
  } catch (error) {
    Object.assign(answer, failure(error));
  }
  const body = toBinary(CreateTunnelTerminatorResponseV2Schema, create(CreateTunnelTerminatorResponseV2Schema, answer));
  router.channel.trySend(new Message(EdgeControlType.CreateTunnelTerminatorV2Response, [], body));
};

const SUCCESS = { result: CreateTerminatorResult.SUCCESS, msg: '', errorCode: 0, retryHint: 0 };

function failure(error: unknown): Partial<typeof SUCCESS> & { result: CreateTerminatorResult } {
  const msg = describeError(error);
  // The router asks again soon; after any other failure it closes the host, at the latest at the third.
  if (error instanceof ProjectError && error.retriable)
    return { result: CreateTerminatorResult.FAILED_BUSY, msg, errorCode: EdgeErrorCode.Internal };
  if (!(error instanceof CircuitError))
    return { result: CreateTerminatorResult.FAILED_OTHER, msg, errorCode: EdgeErrorCode.Internal };
  return { result: CreateTerminatorResult.FAILED_OTHER, msg, errorCode: error.edgeCode, retryHint: error.hint };
}

export function wantedFields(request: {
  cost: number;
  precedence: number;
  instanceId: string;
  instanceSecret: Uint8Array;
  peerData: readonly PeerDataEntry[];
}): Pick<Terminator, 'cost' | 'precedence' | 'instanceId' | 'instanceSecret' | 'peerData'> {
  return {
    cost: request.cost,
    precedence: PRECEDENCES[request.precedence] ?? 'default',
    instanceId: request.instanceId,
    instanceSecret: Buffer.from(request.instanceSecret).toString('base64'),
    peerData: request.peerData.map(({ key, value }) => [key, Buffer.from(value).toString('base64')]),
  };
}

/**
 * All hosts of a service that share an instance id must belong to one identity. Otherwise a host could receive another
 * identity's circuits.
 */
function requireOwnInstance(transaction: Transaction, { serviceId, instanceId, hostId }: Wanted): void {
  if (instanceId === '') return;
  const siblings = transaction.tables.terminator.referring('serviceId', serviceId);
  const other = siblings.find((each) => each.instanceId === instanceId && each.hostId !== hostId);
  if (other)
    throw new EdgeError(
      EdgeErrorCode.InvalidInstanceId,
      `sibling terminator ${other.id} with shared identity ${instanceId} belongs to different identity`,
      NOT_RETRIABLE,
    );
}

/**
 * Creates the terminator. Routers may repeat requests: cost and precedence of an existing one change, except for
 * tunnelers, which use another request for that (both as in the reference).
 */
export async function putTerminator(
  { state }: Pick<ControlContext, 'state'>,
  router: ConnectedRouter,
  wanted: Wanted,
): Promise<void> {
  if (wanted.id === '')
    throw new EdgeError(EdgeErrorCode.InvalidTerminator, 'the terminator id is missing', NOT_RETRIABLE);
  if (wanted.cost > MAX_COST) throw new EdgeError(EdgeErrorCode.InvalidCost, `cost exceeds ${MAX_COST}`, NOT_RETRIABLE);
  await state.change((transaction) => {
    const known = transaction.get('terminator', wanted.id);
    if (!known) {
      // They may have been deleted since the request was checked.
      existing(transaction, 'service', wanted.serviceId);
      existing(transaction, 'identity', wanted.hostId);
      existing(transaction, 'router', router.id);
      requireOwnInstance(transaction, wanted);
      transaction.put('terminator', {
        ...baseFields(transaction, wanted.id),
        ...wanted,
        routerId: router.id,
        address: wanted.id,
      });
      return;
    }
    const same =
      known.routerId === router.id &&
      known.serviceId === wanted.serviceId &&
      known.binding === wanted.binding &&
      known.hostId === wanted.hostId;
    if (!same)
      throw new EdgeError(
        EdgeErrorCode.InvalidTerminator,
        `terminator ${wanted.id} exists for another service, router or host`,
        NOT_RETRIABLE,
      );
    const isChanged = known.cost !== wanted.cost || known.precedence !== wanted.precedence;
    if (isChanged && wanted.binding !== 'tunnel')
      transaction.patch('terminator', wanted.id, { cost: wanted.cost, precedence: wanted.precedence });
  });
}
