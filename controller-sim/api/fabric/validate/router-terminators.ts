// Compares the terminators that a router keeps, of SDK clients or of its tunneler, with those that are stored.

import { RouterTerminatorsDetailsSchema, TerminatorState } from '#wire/gen/management_pb.js';
import { ManagementType } from '#wire/gen/numbers.ts';
import { routerValidation } from './router-validation.ts';
import { askRouter, RouterValueError } from './router-values.ts';
import type { Validation } from './validation.ts';

/** The state that routers report for a complete terminator. */
const ESTABLISHED = 'established';

export const sdkTerminatorsValidation = terminatorsOf('edge', 'sdk-terminators', {
  request: ManagementType.ValidateRouterSdkTerminators,
  response: ManagementType.ValidateRouterSdkTerminatorsResponse,
  result: ManagementType.ValidateRouterSdkTerminatorsResult,
});

export const ertTerminatorsValidation = terminatorsOf('tunnel', 'ert-terminators', {
  request: ManagementType.ValidateRouterErtTerminators,
  response: ManagementType.ValidateRouterErtTerminatorsResponse,
  result: ManagementType.ValidateRouterErtTerminatorsResult,
});

function terminatorsOf(binding: string, name: string, types: Validation['types']): Validation {
  return routerValidation({
    types,
    schema: RouterTerminatorsDetailsSchema,
    check: async ({ state }, asked) => {
      const { router } = asked;
      const inspected = (await askRouter(asked, [name], 'no terminator details returned from router'))(name);
      const errors = inspected.texts('errors');
      if (errors.length > 0) throw new RouterValueError(errors.join(','));
      const stored = state.tables.terminator
        .referring('routerId', router.id)
        .filter((each) => each.binding === binding);
      const missing = new Set(stored.map(({ id }) => id));
      const details = inspected.list('entries').map((entry) => {
        const terminatorId = entry.text('id');
        const routerState = entry.text('state');
        const isStored = missing.delete(terminatorId);
        return {
          terminatorId,
          ctrlState: isStored ? TerminatorState.VALID : TerminatorState.UNKNOWN,
          routerState,
          isValid: isStored && routerState === ESTABLISHED,
          ...(binding === 'edge' && {
            operationActive: entry.flag('operationActive'),
            createTime: entry.text('createTime'),
            lastAttempt: entry.text('lastAttempt'),
          }),
        };
      });
      const unknown = [...missing].map((terminatorId) => ({
        terminatorId,
        ctrlState: TerminatorState.VALID,
        routerState: 'unknown',
        isValid: false,
      }));
      return {
        routerId: router.id,
        routerName: router.name,
        validateSuccess: true,
        details: [...details, ...unknown],
      };
    },
    failed: ({ id, name: routerName }, message) => ({ routerId: id, routerName, validateSuccess: false, message }),
    offline: ({ id, name: routerName }) => ({
      routerId: id,
      routerName,
      validateSuccess: false,
      message: 'router not connected',
    }),
  });
}
