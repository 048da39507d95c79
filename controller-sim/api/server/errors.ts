// Converts everything that is thrown while serving a request into an API error.

import { ClosedError, describeError } from '#lib/errors.ts';
import type { Log } from '#lib/log/log.ts';
import { ApiError, unsupported } from '../../errors/errors.ts';
import { BusyError } from '../../state/state.ts';
import { StoreWriteError } from '../../state/store/store.ts';
import { pathOf } from './paths.ts';

/** Logs faults of the simulator itself. */
export function toApiError(thrown: unknown, { log, contentType = '' }: { log: Log; contentType?: string }): ApiError {
  if (thrown instanceof ApiError) return thrown;
  // The simulator stops; the client will not receive the answer.
  if (thrown instanceof ClosedError)
    return new ApiError('STORE_UNAVAILABLE', { code: 'UNHANDLED', message: thrown.message });
  if (thrown instanceof BusyError) return new ApiError('SERVER_TOO_MANY_REQUESTS');
  if (thrown instanceof StoreWriteError && thrown.isRejection)
    return new ApiError('UNHANDLED_REQUEST', { code: 'UNHANDLED', message: thrown.message });
  if (thrown instanceof StoreWriteError) {
    log[thrown.isLogged ? 'debug' : 'error']({ error: describeError(thrown) }, 'a change could not be stored');
    return new ApiError('STORE_UNAVAILABLE', { code: 'UNHANDLED', message: thrown.message });
  }
  const code = (thrown as { code?: unknown }).code;
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE')
    return contentType === '' ? unsupported(contentType) : malformedType(contentType);
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') return new ApiError('REQUEST_ENTITY_TOO_LARGE');
  if (typeof code === 'string' && code.startsWith('FST_ERR_CTP'))
    return new ApiError('COULD_NOT_PARSE_BODY', { code: 'UNHANDLED', message: describeError(thrown) });
  log.error({ error: describeError(thrown), stack: (thrown as Error).stack }, 'request failed');
  return new ApiError('UNHANDLED');
}

function malformedType(given: string): ApiError {
  const why = `mediatype: malformed: ${JSON.stringify(given)} has no subtype`;
  const message = `parsing Content-Type header from ${JSON.stringify(given)} failed, because ${why}`;
  return new ApiError('COULD_NOT_PARSE_BODY', { code: 'UNHANDLED', message });
}

export function unknownPath(url: string): ApiError {
  return new ApiError('NOT_FOUND', { code: 'UNHANDLED', message: `path ${pathOf(url)} was not found` });
}

/** `allowed` are the methods of the path. */
export function unknownMethod(method: string, allowed: readonly string[]): ApiError {
  return new ApiError('METHOD_NOT_ALLOWED', {
    code: 'UNHANDLED',
    message: `method ${method} is not allowed, but [${allowed.join(',')}] are`,
  });
}
