// Every error that the APIs send: code, status and message, as the reference sends them. What is special about one case stands in its
// cause.

/** code → [status, message] */
export const API_ERRORS = Object.freeze({
  CAN_NOT_DELETE_REFERENCED_ENTITY: [
    409,
    'The entity requested for delete can not be deleted because another resource is referencing it',
  ],
  COULD_NOT_PARSE_BODY: [400, 'The body of the request could not be parsed'],
  COULD_NOT_PARSE_PEM_BLOCK: [400, 'The supplied PEM block could not be parsed'],
  COULD_NOT_PROCESS_CSR: [400, 'The supplied csr could not be processed'],
  COULD_NOT_VALIDATE: [
    400,
    'The supplied request contains an invalid document or no valid accept content were available, see cause',
  ],
  EDGE_ROUTER_ENROLL_COMMON_NAME_INVALID: [
    400,
    'The edge router CSR enrollment must have a common name that matches the edge router id',
  ],
  ENROLLMENT_EXISTS: [409, 'ENROLLMENT_EXISTS'],
  ENROLLMENT_EXPIRED: [400, 'The supplied enrollment has expired'],
  ENTITY_CAN_NOT_BE_DELETED: [400, 'The entity requested for delete can not be deleted'],
  ENTITY_CAN_NOT_BE_UPDATED: [400, 'The entity requested for update can not be updated'],
  INVALID_AUTH: [401, 'The authentication request failed'],
  INVALID_ENROLLMENT_TOKEN: [400, 'The supplied token is not valid'],
  INVALID_ENROLL_METHOD: [400, 'The supplied enrollment method is not valid'],
  INVALID_FIELD: [400, 'The field contains an invalid value'],
  INVALID_FILTER: [400, 'The filter query supplied is invalid'],
  INVALID_SORT_IDENTIFIER: [400, 'The sort order supplied is invalid'],
  MAX_AUTHENTICATOR_METHODS_REACHED: [
    409,
    'The identity already has the maximum authenticators of the specified method',
  ],
  METHOD_NOT_ALLOWED: [405, 'The resource identified does not support this method'],
  MISSING_OR_INVALID_CSR: [400, 'The expected CSR is missing or invalid'],
  NOT_FOUND: [404, 'The resource requested was not found or is no longer available'],
  NO_EDGE_ROUTERS_AVAILABLE: [400, 'No edge routers are assigned and online to handle the requested connection'],
  REQUEST_ENTITY_TOO_LARGE: [413, 'The body of the request is too large'],
  SERVER_TOO_MANY_REQUESTS: [
    429,
    'Too many requests to alter state have been issued, please slow down or try again later',
  ],
  UNAUTHORIZED: [
    401,
    'The request could not be completed. The session is not authorized or the credentials are invalid',
  ],
  UNHANDLED: [500, 'An unhandled error occurred'],
} as const satisfies Readonly<Record<string, readonly [number, string]>>);

export type ApiErrorCode = keyof typeof API_ERRORS;

/** What an answer tells beside code and message: a field of the request, or another error. */
export type ErrorCause = { field: string; reason: string; value: unknown } | { code: string; message: string };

/** A refusal that a client is told. */
export class ApiError extends Error {
  readonly code: ApiErrorCode;
  readonly status: number;
  readonly details: ErrorCause | undefined;

  constructor(code: ApiErrorCode, details?: ErrorCause) {
    super(API_ERRORS[code][1]);
    this.name = 'ApiError';
    this.code = code;
    this.status = API_ERRORS[code][0];
    this.details = details;
  }
}

/** 400 for a field of the body. */
export function invalid(field: string, reason: string, value: unknown): ApiError {
  return new ApiError('COULD_NOT_VALIDATE', { field, reason, value });
}

/** 400 for a field whose value the rules refuse. */
export function invalidField(field: string, reason: string, value: unknown): ApiError {
  return new ApiError('INVALID_FIELD', {
    code: 'INVALID_FIELD',
    message: `the value '${String(value)}' for '${field}' is invalid: ${reason}`,
  });
}

/** 404 for an entity. */
export function notFound(singular: string, id: string): ApiError {
  return new ApiError('NOT_FOUND', { code: 'UNHANDLED', message: `${singular} with id ${id} not found` });
}
