// What a client tells of the state of its machine.

import { badRequest } from '../../errors/errors.ts';
import type { PostureResponse } from '../../posture/posture.ts';
import type { ApiSession } from '../../state/types.ts';
import type { Answer, ApiRequest, Handlers } from '../http/context.ts';

/** Characters of a response as JSON: it is kept with the identity, and again with requests that failed because of it. */
const LARGEST_RESPONSE = 16 * 1024;

export const postureHandlers: Handlers = {
  createPostureResponse: (request) => take(request, [request.body as PostureResponse]),
  createPostureResponseBulk: (request) => take(request, request.body as PostureResponse[]),
};

function take({ services, session }: ApiRequest, responses: readonly PostureResponse[]): Answer {
  for (const { typeId, ...facts } of responses)
    if (JSON.stringify(facts).length > LARGEST_RESPONSE)
      throw badRequest(`the posture response ${typeId} has more than ${LARGEST_RESPONSE} characters`);
  return { data: { services: services.posture.take(session as ApiSession, responses) } };
}
