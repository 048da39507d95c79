// ValidateDataState (20503) in, ValidateDataStateResponse (20504) out: a controller sends the data model that this
// router should have. The answer lists the differences. With `fix`, the controller's model replaces the router's.

import { create, toBinary } from '@bufbuild/protobuf';
import type { Log } from '#lib/log/log.ts';
import {
  type DataState,
  RouterDataModelValidateRequestSchema,
  RouterDataModelValidateResponseSchema,
} from '#wire/gen/edge_control_pb.js';
import { EdgeControlType } from '#wire/gen/numbers.ts';
import { Message } from '#wire/message.ts';
import type { Asker } from '../control/controller.ts';
import { compareModels, countEntities, type ModelDifference } from './compare-models.ts';
import { DataModel } from './data-model.ts';

export interface ValidateModelComponents {
  log: Log;
  /** Undefined if this router does not subscribe to a data model. */
  model: DataModel | undefined;
  /** Replaces the model. */
  replace(state: DataState): void;
}

/** reference fact: the answer of a router without a data model. */
const NO_MODEL: ModelDifference = {
  entityType: 'router-data-model',
  entityId: 'root',
  diffType: 'removed',
  detail: 'router data model not present',
};

export function onValidateModel({
  log,
  model,
  replace,
}: ValidateModelComponents): (controller: Asker, message: Message) => void {
  return (controller, message) => {
    const { state, fix } = message.decode(RouterDataModelValidateRequestSchema, false);
    const wanted = new DataModel(log);
    if (state) wanted.replace(state);
    const diffs = model ? compareModels(wanted, model) : [NO_MODEL];
    const response = create(RouterDataModelValidateResponseSchema, {
      origEntityCounts: countEntities(wanted),
      copyEntityCounts: model ? countEntities(model) : {},
      diffs,
    });
    if (model && state && fix && diffs.length > 0) {
      log.warn({ controller: controller.id, differences: diffs.length }, 'data model replaced: it differed');
      replace(state);
    }
    const body = toBinary(RouterDataModelValidateResponseSchema, response);
    controller.channel.reply(message, new Message(EdgeControlType.ValidateDataStateResponse, [], body));
  };
}
