// Compares the number of terminators of each host, in total and for each service, with the number that the client
// expects.

import { create, toBinary } from '@bufbuild/protobuf';
import { InvalidTerminatorHostStateSchema, type ValidateTerminatorsRequest } from '#wire/gen/management_pb.js';
import { ManagementType } from '#wire/gen/numbers.ts';
import { ApiError } from '../../../errors/errors.ts';
import type { Identity } from '../../../state/kinds/identity.ts';
import type { Terminator } from '../../../state/kinds/terminator.ts';
import { IDENTITY_SYMBOLS } from '../../edge/identities.ts';
import type { ApiServices } from '../../operations/context.ts';
import { listPage } from '../../operations/list.ts';
import { reasonOf, type ValidationRun } from './validation.ts';

/** reference fact: the default filter of identities. */
const NO_ADMINISTRATORS = 'not isAdmin limit none';
const INVALID_QUERY = 'invalid identities query';

/** Reports hosts with unexpected counts. An expected count of zero is not checked. */
export async function reportHosts(
  services: Pick<ApiServices, 'state'>,
  terminators: readonly Terminator[],
  { expectedPerSvcAndHost, expectedPerHost, identitiesFilter }: ValidateTerminatorsRequest,
  { report }: ValidationRun,
): Promise<void> {
  const send = (identityId: string, serviceId: string, message: string) => {
    const result = create(InvalidTerminatorHostStateSchema, { identityId, serviceId, message });
    return report(ManagementType.ValidateTerminatorsHostResult, toBinary(InvalidTerminatorHostStateSchema, result));
  };
  const wrong = (expected: number, count: number) => `expected ${expected} terminators, but had ${count}`;
  if (expectedPerSvcAndHost > 0) {
    const byHost = Map.groupBy(terminators, ({ serviceId, hostId }) => `${serviceId}/${hostId}`);
    for (const [{ serviceId, hostId }, ...others] of byHost.values() as Iterable<[Terminator, ...Terminator[]]>) {
      const count = others.length + 1;
      if (count !== expectedPerSvcAndHost) await send(hostId, serviceId, wrong(expectedPerSvcAndHost, count));
    }
  }
  if (expectedPerHost === 0) return;
  const byHost = Map.groupBy(terminators, ({ hostId }) => hostId);
  const filter = identitiesFilter || NO_ADMINISTRATORS;
  let identities: readonly Identity[];
  try {
    identities = selectIdentities(services, filter);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    await send(INVALID_QUERY, INVALID_QUERY, `invalid query '${filter}' (${reasonOf(error)})`);
    return;
  }
  for (const { id } of identities) {
    const count = byHost.get(id)?.length ?? 0;
    if (count !== expectedPerHost) await send(id, '', wrong(expectedPerHost, count));
  }
}

function selectIdentities({ state }: Pick<ApiServices, 'state'>, filter: string): readonly Identity[] {
  const query = new URLSearchParams({ filter });
  return listPage(state.tables.identity, query, IDENTITY_SYMBOLS, (each) => each).items as readonly Identity[];
}
