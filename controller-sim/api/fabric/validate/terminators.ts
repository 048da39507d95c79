// Asks routers which of the stored terminators they have, and deletes the others if the client requests it.
// Optionally it counts the terminators of each host.

import { create, toBinary } from '@bufbuild/protobuf';
import { describeError } from '#lib/errors.ts';
import { type RouterTerminatorState, TerminatorInvalidReason } from '#wire/gen/control_pb.js';
import {
  TerminatorDetailSchema,
  TerminatorState,
  type ValidateTerminatorsRequest,
  ValidateTerminatorsRequestSchema,
} from '#wire/gen/management_pb.js';
import { ManagementType } from '#wire/gen/numbers.ts';
import { askForTerminators, deleteTerminators } from '../../../control-channel/messages/validate-terminators.ts';
import type { Terminator } from '../../../state/kinds/terminator.ts';
import { withOrigin } from '../../../state/origin.ts';
import { terminatorSymbols } from '../../edge/terminators.ts';
import type { ApiServices } from '../../operations/context.ts';
import { listPage } from '../../operations/list.ts';
import { reportHosts } from './terminator-hosts.ts';
import { inParallel, type Validation, type ValidationRun } from './validation.ts';

const types = {
  request: ManagementType.ValidateTerminators,
  response: ManagementType.ValidateTerminatorsResponse,
  result: ManagementType.ValidateTerminatorsResult,
};
const ALL = 'true limit none';
/** reference fact: number of terminators in one request to a router. */
const BATCH = 50;

/** Terminators of one router. */
interface Batch {
  readonly routerId: string;
  readonly terminators: readonly Terminator[];
}

type Verdict = Pick<RouterTerminatorState, 'valid' | 'reason' | 'detail'>;

export const terminatorsValidation: Validation = {
  types,
  rejectionPrefix: 'failed to run terminator validation: ',
  prepare: (services, message) => {
    const request = message.decode(ValidateTerminatorsRequestSchema);
    const { terminator } = services.state.tables;
    const query = new URLSearchParams({ filter: request.terminatorsFilter || ALL });
    const { items } = listPage(terminator, query, terminatorSymbols(services), (each) => each);
    const terminators = items as readonly Terminator[];
    return {
      count: terminators.length,
      run: async (run) => {
        // Clients disconnect after the result of the last terminator.
        await reportHosts(services, terminators, request, run);
        await inParallel(batchesOf(terminators), (batch) => validate(services, batch, request, run));
      },
    };
  },
};

function batchesOf(terminators: readonly Terminator[]): Batch[] {
  return [...Map.groupBy(terminators, ({ routerId }) => routerId)].flatMap(([routerId, own]) =>
    Array.from({ length: Math.ceil(own.length / BATCH) }, (_, index) => ({
      routerId,
      terminators: own.slice(index * BATCH, (index + 1) * BATCH),
    })),
  );
}

async function validate(
  services: Pick<ApiServices, 'state' | 'network' | 'log'>,
  batch: Batch,
  { fixInvalid }: ValidateTerminatorsRequest,
  { signal, origin, report }: ValidationRun,
): Promise<void> {
  let states: ReadonlyMap<string, RouterTerminatorState> = new Map();
  let failure = '';
  try {
    states = await ask(services, batch, fixInvalid, signal);
  } catch (error) {
    signal.throwIfAborted();
    failure = describeError(error);
  }
  const invalid = batch.terminators.filter((each) => states.get(each.id)?.valid === false);
  const fixed =
    fixInvalid && invalid.length > 0 && (await withOrigin(origin, () => remove(services, batch.routerId, invalid)));
  for (const terminator of batch.terminators) {
    const verdict = states.get(terminator.id);
    const detail = create(TerminatorDetailSchema, {
      ...describe(services, terminator),
      state: stateOf(verdict),
      fixed: verdict?.valid === false && fixed,
      detail: verdict ? verdict.detail : failure,
    });
    await report(types.result, toBinary(TerminatorDetailSchema, detail));
  }
}

async function ask(
  { network }: Pick<ApiServices, 'network'>,
  { routerId, terminators }: Batch,
  fixInvalid: boolean,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, RouterTerminatorState>> {
  const router = network.routers.get(routerId);
  if (!router) throw new Error('router off-line');
  return askForTerminators(router, terminators, { fixInvalid, postCreate: false, signal });
}

/** Returns false if the terminators could not be deleted. */
async function remove(
  services: Pick<ApiServices, 'state' | 'log'>,
  routerId: string,
  terminators: readonly Terminator[],
): Promise<boolean> {
  const ids = terminators.map(({ id }) => id);
  try {
    await deleteTerminators(services, routerId, ids);
    return true;
  } catch (error) {
    services.log.error({ error: describeError(error) }, 'invalid terminators could not be deleted');
    return false;
  }
}

const UNKNOWN_NAME = 'unable to retrieve';

function describe({ state: { tables } }: Pick<ApiServices, 'state'>, terminator: Terminator) {
  const { id, serviceId, routerId, binding, address, hostId, createdAt } = terminator;
  return {
    terminatorId: id,
    serviceId,
    serviceName: tables.service.get(serviceId)?.name ?? UNKNOWN_NAME,
    routerId,
    routerName: tables.router.get(routerId)?.name ?? UNKNOWN_NAME,
    binding,
    address,
    hostId,
    createDate: `${new Date(createdAt).toISOString().slice(0, 'YYYY-MM-DDTHH:MM:SS'.length)}Z`,
  };
}

function stateOf(verdict: Verdict | undefined): TerminatorState {
  if (!verdict) return TerminatorState.UNKNOWN;
  if (verdict.valid) return TerminatorState.VALID;
  switch (verdict.reason) {
    case TerminatorInvalidReason.UNKNOWN_BINDING:
      return TerminatorState.INVALID_UNKNOWN_BINDING;
    case TerminatorInvalidReason.UNKNOWN_TERMINATOR:
      return TerminatorState.INVALID_UNKNOWN_TERMINATOR;
    case TerminatorInvalidReason.BAD_STATE:
      return TerminatorState.INVALID_BAD_STATE;
    default:
      return TerminatorState.UNKNOWN;
  }
}
