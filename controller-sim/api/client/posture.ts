// What a client tells of the state of its machine.

import type { PostureResponse } from '../../posture/posture.ts';
import type { Answer, ApiRequest, Handlers } from '../../request/context.ts';
import type { ApiSession } from '../../state/types.ts';

export const postureHandlers: Handlers = {
  createPostureResponse: (request) => take(request, [request.body as PostureResponse]),
  createPostureResponseBulk: (request) => take(request, request.body as PostureResponse[]),
};

function take({ services, session }: ApiRequest, responses: readonly PostureResponse[]): Answer {
  return { data: { services: services.posture.take(session as ApiSession, responses) } };
}
