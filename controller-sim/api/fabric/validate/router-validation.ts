// Validations that have one result for each router that matches a filter.

import { create, type DescMessage, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import { describeError } from '#lib/errors.ts';
import { ValidateRoutersRequestSchema } from '#wire/gen/management_pb.js';
import type { Message } from '#wire/message.ts';
import type { ConnectedRouter } from '../../../network/connected-router.ts';
import type { Router } from '../../../state/kinds/router.ts';
import type { ApiServices } from '../../operations/context.ts';
import { listPage } from '../../operations/list.ts';
import { fabricRouterSymbols } from '../entities.ts';
import { inParallel, UNREADABLE, type Validation, type ValidationComponents } from './validation.ts';

export interface RouterValidationInit<Desc extends DescMessage> {
  readonly types: Validation['types'];
  /** The message of one result. */
  readonly schema: Desc;
  /** The result for a connected router. If it rejects, `failed` makes the result. */
  check(services: ValidationComponents, asked: AskedRouter, request: Message): Promise<MessageInitShape<Desc>>;
  /** The result for a router that does not answer, or whose answer is invalid. */
  failed(router: Router, why: string): MessageInitShape<Desc>;
  /** The result for a router that is not connected. */
  offline(router: Router): MessageInitShape<Desc>;
  /** Results in addition to those of routers. */
  others?(services: ValidationComponents, request: Message): MessageInitShape<Desc>[];
}

export interface AskedRouter {
  readonly router: Router;
  readonly connected: ConnectedRouter;
  readonly signal: AbortSignal;
}

export function routerValidation<Desc extends DescMessage>(init: RouterValidationInit<Desc>): Validation {
  const encode = (result: MessageInitShape<Desc>) => toBinary(init.schema, create(init.schema, result));
  return {
    types: init.types,
    rejectionPrefix: UNREADABLE,
    prepare: (services, request) => {
      const routers = selectRouters(services, request.decode(ValidateRoutersRequestSchema).filter);
      const others = init.others?.(services, request) ?? [];
      return {
        count: routers.length + others.length,
        run: async ({ report, signal }) => {
          for (const result of others) await report(init.types.result, encode(result));
          await inParallel(routers, async (router) => {
            const result = await resultOf(init, services, router, request, signal);
            signal.throwIfAborted();
            await report(init.types.result, encode(result));
          });
        },
      };
    },
  };
}

/** reference fact: without a limit, a filter selects ten routers. @throws ApiError */
function selectRouters(services: Pick<ApiServices, 'state' | 'network'>, filter: string): readonly Router[] {
  const { router } = services.state.tables;
  const { items } = listPage(router, new URLSearchParams({ filter }), fabricRouterSymbols(services), (each) => each);
  return items as readonly Router[];
}

async function resultOf<Desc extends DescMessage>(
  { check, failed, offline }: RouterValidationInit<Desc>,
  services: ValidationComponents,
  router: Router,
  request: Message,
  signal: AbortSignal,
): Promise<MessageInitShape<Desc>> {
  const connected = services.network.routers.get(router.id);
  if (!connected) return offline(router);
  try {
    return await check(services, { router, connected, signal }, request);
  } catch (error) {
    return failed(router, describeError(error));
  }
}
