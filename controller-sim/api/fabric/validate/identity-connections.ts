// Compares the identities that are connected to a router with those that it reported.

import { ComponentDetailsSchema } from '#wire/gen/management_pb.js';
import { ManagementType } from '#wire/gen/numbers.ts';
import type { Router } from '../../../state/kinds/router.ts';
import { routerValidation } from './router-validation.ts';
import { askRouter, type Fields } from './router-values.ts';

const NAME = 'identity-connection-statuses';

export const identityConnectionsValidation = routerValidation({
  types: {
    request: ManagementType.ValidateIdentityConnectionStatuses,
    response: ManagementType.ValidateIdentityConnectionStatusesResponse,
    result: ManagementType.ValidateIdentityConnectionStatusesResult,
  },
  schema: ComponentDetailsSchema,
  check: async (_services, asked) => {
    const { router, connected } = asked;
    const values = await askRouter(asked, [NAME], 'no identity in connection details returned from router');
    const found = values(NAME).map('identity_connections');
    // The identity of the router's tunneler is connected while its router is, even if the router does not list it.
    found.delete(router.id);
    const missing = [...connected.identities].filter((id) => !found.has(id));
    return resultFor(router, [
      ...[...found].flatMap(([id, details]) => errorsOf(id, details, connected.identities.has(id))),
      ...missing.map((id) => `ctrl reports identity ${id} is connected, but router disagrees`),
    ]);
  },
  // reference fact: the result of a router that does not answer names no type of component.
  failed: ({ id, name }, why) => ({ componentId: id, componentName: name, validateSuccess: false, errors: [why] }),
  // A disconnected router has no connected identities.
  offline: (router) => resultFor(router, []),
});

/** reference fact: `validateSuccess` means that the router answered. */
function resultFor({ id, name }: Router, errors: string[]) {
  return { componentType: 'router', componentId: id, componentName: name, validateSuccess: true, errors };
}

function errorsOf(id: string, details: Fields, isReported: boolean): string[] {
  const isConnected = details.list('connections').some((each) => !each.flag('closed'));
  const is = isConnected ? 'connected' : 'is not connected';
  return [
    ...(isConnected === isReported ? [] : [`router reports identity ${id} ${is}, but controller disagrees`]),
    ...(details.count('unreported_count') > 0 ? [`identity ${id} has unreported events`] : []),
    ...(details.count('being_reported_count') > 0 ? [`identity ${id} has events still being reported`] : []),
    ...(details.flag('unreported_state_changed') ? [`identity ${id} has unreported state change`] : []),
    ...(details.flag('being_reported_state_changed') ? [`identity ${id} has state change being reported`] : []),
  ];
}
