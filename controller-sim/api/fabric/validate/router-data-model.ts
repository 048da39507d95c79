// Sends routers the data model that they should have; each answers with the differences, and replaces its own if asked
// to. The controller checks its own model, too.

import { create, toBinary } from '@bufbuild/protobuf';
import {
  RouterDataModelValidateRequestSchema,
  RouterDataModelValidateResponseSchema,
} from '#wire/gen/edge_control_pb.js';
import { ComponentDetailsSchema, ValidateRouterDataModelRequestSchema } from '#wire/gen/management_pb.js';
import { EdgeControlType, ManagementType } from '#wire/gen/numbers.ts';
import { Message } from '#wire/message.ts';
import { ROUTER_TIMEOUT } from '../../../control-channel/messages/validate-terminators.ts';
import type { Router } from '../../../state/kinds/router.ts';
import type { ApiServices } from '../../operations/context.ts';
import { routerValidation } from './router-validation.ts';

export const routerDataModelValidation = routerValidation({
  types: {
    request: ManagementType.ValidateRouterDataModel,
    response: ManagementType.ValidateRouterDataModelResponse,
    result: ManagementType.ValidateRouterDataModelResult,
  },
  schema: ComponentDetailsSchema,
  check: async ({ dataModel }, { router, connected, signal }, request) => {
    const { fix } = request.decode(ValidateRouterDataModelRequestSchema);
    const question = create(RouterDataModelValidateRequestSchema, { state: dataModel.stateFor(router.id), fix });
    const body = toBinary(RouterDataModelValidateRequestSchema, question);
    const answer = await connected.channel.request(new Message(EdgeControlType.ValidateDataState, [], body), {
      timeout: ROUTER_TIMEOUT,
      signal,
    });
    const { diffs } = answer.decode(RouterDataModelValidateResponseSchema);
    const errors = diffs.map(
      ({ entityType, entityId, diffType, detail }) => `${entityType} id: ${entityId} ${diffType}: ${detail}`,
    );
    return resultFor(router, errors);
  },
  failed: (router, why) => resultFor(router, [`unable to validate router data (${why})`]),
  offline: (router) => resultFor(router, ['router not connected to controller']),
  others: (services, request) =>
    request.decode(ValidateRouterDataModelRequestSchema).validateCtrl ? [controllerResult(services)] : [],
});

function resultFor({ id, name }: Router, errors: string[]) {
  const validateSuccess = errors.length === 0;
  return { componentType: 'router', componentId: id, componentName: name, validateSuccess, errors };
}

function controllerResult({ controllerId, dataModel }: Pick<ApiServices, 'controllerId' | 'dataModel'>) {
  const errors = dataModel.check();
  const validateSuccess = errors.length === 0;
  return {
    componentType: 'controller',
    componentId: controllerId,
    componentName: controllerId,
    validateSuccess,
    errors,
  };
}
