// Receives posture responses, in which clients describe the state of their machine.

import type { PostureResponse as Accepted } from '#schemas/api/gen/answers.ts';
import type { PostureResponseCreate, PostureResponses } from '#schemas/api/gen/bodies.ts';
import { badRequest } from '../../errors/errors.ts';
import type { ApiSession } from '../../state/kinds/api-session.ts';
import type { ApiRequest, Data, Handlers } from '../operations/context.ts';

/** Characters of a response as JSON. The identity stores it, and requests that failed because of it store it again. */
const MAX_RESPONSE_BYTES = 16 * 1024;

export const postureHandlers = {
  createPostureResponse: (request: ApiRequest<'posture', PostureResponseCreate>) => submit(request, [request.body]),
  createPostureResponseBulk: (request: ApiRequest<'posture', PostureResponses>) => submit(request, request.body),
} satisfies Partial<Handlers<'client'>>;

async function submit(
  { services, session }: ApiRequest<'posture'>,
  responses: PostureResponses,
): Promise<Data<Accepted>> {
  for (const { typeId, ...facts } of responses)
    if (JSON.stringify(facts).length > MAX_RESPONSE_BYTES)
      throw badRequest(`the posture response ${typeId} has more than ${MAX_RESPONSE_BYTES} characters`);
  return { data: { services: await services.posture.accept(session as ApiSession, responses) } };
}
