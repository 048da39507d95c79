// Shared by the handlers of the lab API.

import { QueueFullError } from '#lib/queue/task-queue.ts';
import { ApiError, invalid } from '../../errors/errors.ts';
import type { Lab } from '../../lab/lab.ts';
import { InvalidError, UnknownError } from '../../lab/lab-error.ts';
import { NotReadyError } from '../../lab/network/readiness.ts';
import { SeedError } from '../../lab/seed/mistake.ts';
import type { ApiRequest } from '../operations/context.ts';

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
