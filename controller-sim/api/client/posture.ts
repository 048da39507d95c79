// Receives posture responses, in which clients describe the state of their machine.

import { badRequest } from '../../errors/errors.ts';
import type { PostureResponse } from '../../posture/posture.ts';
import type { ApiSession } from '../../state/types.ts';
import type { Answer, ApiRequest, Handlers } from '../http/context.ts';

/** Characters of a response as JSON. The identity stores it, and requests that failed because of it store it again. */
const LARGEST_RESPONSE = 16 * 1024;

export const postureHandlers: Handlers = {
  createPostureResponse: (request) => submit(request, [request.body as PostureResponse]),
  createPostureResponseBulk: (request) => submit(request, request.body as PostureResponse[]),
};

function submit({ services, session }: ApiRequest, responses: readonly PostureResponse[]): Answer {
  for (const { typeId, ...facts } of responses)
    if (JSON.stringify(facts).length > LARGEST_RESPONSE)
      throw badRequest(`the posture response ${typeId} has more than ${LARGEST_RESPONSE} characters`);
  return { data: { services: services.posture.accept(session as ApiSession, responses) } };
}
