// What all handlers of the lab API do: they read the fields of the request, and answer errors of the lab.

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
  run: (lab: Lab, input: Input<Id>, services: ApiServices) => Promise<Result<Id>> | Result<Id>,
): Handlers<'lab'>[Id] {
  const handler = labHandler(async (lab, request) => {
    const data = await run(lab, inputOf(request) as Input<Id>, request.services);
    return { data: request.operation.answer.kind === 'none' ? {} : data };
  });
  return handler as Handlers<'lab'>[Id];
}

function inputOf({ operation, params, query, body }: ApiRequest): object {
  const asked = operation.query.flatMap(({ name, type }) => {
    const text = query.get(name);
    return text === null ? [] : [[name, queryValue(name, type, text)]];
  });
  const given = operation.lab?.hasDocument ? { document: body } : withoutNulls((body ?? {}) as object);
  return { ...params, ...Object.fromEntries(asked), ...given };
}

/** @throws InvalidError */
function queryValue(name: string, type: QueryType, text: string): unknown {
  if (type === 'boolean' && text !== 'true' && text !== 'false')
    throw new InvalidError(name, 'use true or false', text);
  if (type === 'integer' && !/^\d+$/.test(text)) throw new InvalidError(name, 'use a whole number of at least 0', text);
  return { string: text, integer: Number(text), boolean: text === 'true' }[type];
}

/** Answers wrong use of the lab as 400 or 404, too much of it as 429, and a wait in vain as 503. */
export function labHandler<Answer, Body = unknown>(
  handle: (lab: Lab, request: ApiRequest<Body>) => Promise<Answer> | Answer,
): (request: ApiRequest<Body>) => Promise<Answer> {
  return async (request) => {
    try {
      return await handle(request.services.lab, request);
    } catch (error) {
      if (error instanceof InvalidError) throw invalid(error.field, error.message, error.value);
      if (error instanceof SeedError)
        throw new ApiError('COULD_NOT_VALIDATE', { message: error.message, data: error.mistakes });
      if (error instanceof QueueFullError) throw new ApiError('RATE_LIMITED');
      if (error instanceof NotReadyError)
        throw new ApiError('NOT_READY', { code: 'UNHANDLED', message: error.message });
      if (error instanceof UnknownError) throw new ApiError('NOT_FOUND', { code: 'UNHANDLED', message: error.message });
      throw error;
    }
  };
}
