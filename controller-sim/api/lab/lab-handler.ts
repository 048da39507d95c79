// Makes the handlers of the lab API: they read the fields of the request, and answer the errors of the lab.

import { withoutNulls } from '#lib/json/without-nulls.ts';
import { QueueFullError } from '#lib/queue/task-queue.ts';
import type { LabInputs, Operations } from '#schemas/api/gen/operation-types.ts';
import type { QueryType } from '#schemas/lab/function.ts';
import { ApiError, invalid } from '../../errors/errors.ts';
import type { Lab } from '../../lab/lab.ts';
import { InvalidError, UnknownError } from '../../lab/lab-error.ts';
import { NotReadyError } from '../../lab/network/readiness.ts';
import { SeedError } from '../../lab/seed/mistake.ts';
import type { ApiRequest, ApiServices, Handlers } from '../operations/context.ts';

/** The components that handlers of the lab API use. */
type LabUse = 'lab' | 'cluster' | 'peers' | 'controllerId' | 'controlAddress' | 'baseUrl' | 'authority';
export type LabServices = Pick<ApiServices, LabUse>;

type Lacking = null | undefined;
/** The fields of a request to a function, without those that it leaves out. */
export type Input<Id extends keyof LabInputs> = {
  readonly [Field in keyof LabInputs[Id]]: Exclude<LabInputs[Id][Field], Lacking>;
};
type Result<Id extends keyof LabInputs> = Operations['lab'][Id]['kind'] extends 'none'
  ? unknown
  : Operations['lab'][Id]['answer'];

/**
 * The handler of a function. Wrong use of the lab is answered with 400 or 404, too much of it with 429, a wait in vain
 * with 503.
 */
export function answering<Id extends keyof LabInputs>(
  run: (lab: Lab, input: Input<Id>, services: LabServices) => Promise<Result<Id>> | Result<Id>,
): Handlers<'lab'>[Id] {
  const handler = async (request: ApiRequest<LabUse>) => {
    const { services, operation } = request;
    try {
      const data = await run(services.lab, inputOf(request) as Input<Id>, services);
      return { data: operation.answer.kind === 'none' ? {} : data };
    } catch (error) {
      throw rejection(error);
    }
  };
  return handler as Handlers<'lab'>[Id];
}

function inputOf({ operation, params, query, body }: ApiRequest<never>): object {
  const asked = operation.query.flatMap(({ name, type }) => {
    const text = query.get(name);
    return text === null ? [] : [[name, queryValue(name, type, text)]];
  });
  const given = operation.lab?.hasDocument ? { document: body } : withoutNulls((body ?? {}) as object);
  return { ...given, ...Object.fromEntries(asked), ...params };
}

/** @throws InvalidError */
function queryValue(name: string, type: QueryType, text: string): unknown {
  if (type === 'boolean' && text !== 'true' && text !== 'false')
    throw new InvalidError(name, 'use true or false', text);
  if (type === 'integer' && !/^\d+$/.test(text)) throw new InvalidError(name, 'use a whole number of at least 0', text);
  return { string: text, integer: Number(text), boolean: text === 'true' }[type];
}

function rejection(error: unknown): unknown {
  if (error instanceof InvalidError) return invalid(error.field, error.message, error.value);
  if (error instanceof SeedError)
    return new ApiError('COULD_NOT_VALIDATE', { message: error.message, data: error.mistakes });
  if (error instanceof QueueFullError) return new ApiError('RATE_LIMITED');
  if (error instanceof NotReadyError) return new ApiError('NOT_READY', { code: 'UNHANDLED', message: error.message });
  if (error instanceof UnknownError) return new ApiError('NOT_FOUND', { code: 'UNHANDLED', message: error.message });
  return error;
}
