// Checks that each router that listens for controllers is connected.

import { create, toBinary } from '@bufbuild/protobuf';
import { ProjectError } from '#lib/errors.ts';
import { ControllerDialerDetailsSchema } from '#wire/gen/management_pb.js';
import { ManagementType } from '#wire/gen/numbers.ts';
import type { Validation } from './validation.ts';

const types = {
  request: ManagementType.ValidateControllerDialers,
  response: ManagementType.ValidateControllerDialersResponse,
  result: ManagementType.ValidateControllerDialersResult,
};

export const controllerDialersValidation: Validation = {
  types,
  rejectionPrefix: '',
  prepare: ({ routerDialer }) => {
    if (!routerDialer) throw new ProjectError('DIALER_DISABLED', 'controller dialer is not enabled');
    const results = routerDialer.check();
    return {
      count: results.length,
      run: async ({ report }) => {
        for (const { routerId, name, errors } of results) {
          const validateSuccess = errors.length === 0;
          const result = { componentId: routerId, componentName: name, validateSuccess, errors };
          const details = create(ControllerDialerDetailsSchema, result);
          await report(types.result, toBinary(ControllerDialerDetailsSchema, details));
        }
      },
    };
  },
};
