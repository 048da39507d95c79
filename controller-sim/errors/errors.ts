// Every error that the APIs send: code, status and message of the reference. Details of a case are in its cause.

/** code → [status, message] */
export const API_ERRORS = Object.freeze({
  CAN_NOT_DELETE_REFERENCED_ENTITY: [
    409,
    'the entity cannot be deleted because it is referenced by another entity, see cause',
  ],
  CAN_NOT_UPDATE_AUTHENTICATOR: [409, 'The authenticator cannot be updated in this fashion'],
  CAN_NOT_UPDATE_ROUTER: [409, 'The router is an edge router, update it as one'],
  CA_ALREADY_VERIFIED: [409, 'CA has already been verified'],
  CERTIFICATE_FAILED_VALIDATION: [
    400,
    "The supplied certificate failed to validate against the CA's certificate chain",
  ],
  CERTIFICATE_IS_NOT_CA: [400, 'The supplied certificate is not a CA'],
  CERT_FAILED_VALIDATION: [400, 'certificate failed to validate against CA'],
  CERT_IN_USE: [409, 'The certificate supplied is already associated with another identity'],
  COULD_NOT_PARSE_BODY: [400, 'The body of the request could not be parsed'],
  COULD_NOT_PARSE_PEM_BLOCK: [400, "The certificate's PEM block could not be parsed"],
  COULD_NOT_PARSE_x509_FROM_DER: [400, 'could not parse x509 from DER'],
  COULD_NOT_PROCESS_CSR: [400, 'The supplied csr could not be processed'],
  COULD_NOT_VALIDATE: [
    400,
    'The supplied request contains an invalid document or no valid accept content were available, see cause',
  ],
  DATA_NOT_REACHED: [503, 'This controller does not have the requested data yet, see cause'],
  EDGE_ROUTER_ENROLL_COMMON_NAME_INVALID: [
    400,
    'The edge router CSR enrollment must have a common name that matches the edge router id',
  ],
  ENROLLMENT_CA_NOT_VALID: [400, 'The CA of the enrollment cannot be used any more'],
  ENROLLMENT_EXISTS: [409, 'ENROLLMENT_EXISTS'],
  ENROLLMENT_EXPIRED: [400, 'The supplied enrollment has expired'],
  ENROLLMENT_IDENTITY_ALREADY_ENROLLED: [409, 'The identity has enrolled already'],
  ENROLLMENT_NO_VALID_CAS: [400, 'No certificate authority that may enroll has signed the certificate'],
  ENTITY_CAN_NOT_BE_DELETED: [400, 'The entity requested for delete can not be deleted'],
  ENTITY_CAN_NOT_BE_UPDATED: [400, 'The entity requested for update can not be updated'],
  INVALID_AUTH: [401, 'The authentication request failed'],
  INVALID_BACKING_TOKEN_TYPE: [400, 'The backing token type is invalid'],
  INVALID_CERT_PEM: [
    400,
    'the supplied certificate PEM is either invalid or contains the incorrect number of certificates',
  ],
  INVALID_CLIENT_CERT: [400, 'The provided client certificate is invalid'],
  INVALID_COMMON_NAME: [400, 'The common name of the supplied certificate is invalid'],
  INVALID_CONTENT_TYPE: [400, 'The content type is not supported'],
  INVALID_ENROLLMENT_ALREADY_ENROLLED: [410, 'The identity has enrolled already'],
  INVALID_ENROLLMENT_NOT_ALLOWED: [409, 'This way of enrolling is not open'],
  INVALID_ENROLLMENT_TOKEN: [400, 'The supplied token is not valid'],
  INVALID_ENROLL_METHOD: [400, 'The supplied enrollment method is not valid'],
  INVALID_FIELD: [400, 'The field contains an invalid value'],
  INVALID_FILTER: [400, 'The filter query supplied is invalid'],
  INVALID_PAGINATION: [400, 'The pagination properties provided are invalid'],
  INVALID_POSTURE: [409, 'Posture response data is missing or wrong'],
  INVALID_SORT_IDENTIFIER: [400, 'The sort order supplied is invalid'],
  MAX_AUTHENTICATOR_METHODS_REACHED: [
    409,
    'The identity already has the maximum authenticators of the specified method',
  ],
  METHOD_NOT_ALLOWED: [405, 'The resource requested does not support this HTTP verb'],
  MFA_ENROLLMENT_NOT_STARTED: [404, 'An MFA enrollment has not been started'],
  MFA_EXISTS: [409, 'An MFA record already exists, try removing it'],
  MFA_INVALID_TOKEN: [400, 'An invalid token/code was provided'],
  MFA_NOT_ENROLLED: [409, 'The current identity is not enrolled in MFA'],
  MISSING_CERT_CLAIM: [400, 'The certificate is expected to contain and externalId, which was not found'],
  MISSING_OR_INVALID_CSR: [400, 'The supplied enrollment request is missing or contains an invalid CSR'],
  /** Not in the reference: routers of the lab are not as the controller wants them. */
  NOT_READY: [503, 'The network is not ready, see cause'],
  /** Sent as COULD_NOT_VALIDATE. */
  NOT_ACCEPTABLE: [
    406,
    'The supplied request contains an invalid document or no valid accept content were available, see cause',
  ],
  NOT_FOUND: [404, 'The resource requested was not found or is no longer available'],
  NO_EDGE_ROUTERS_AVAILABLE: [400, 'No edge routers are assigned and online to handle the requested connection'],
  RATE_LIMITED: [
    429,
    'The requested operation is rate limited and the rate limit has been exceeded. Please try again later',
  ],
  REQUEST_ENTITY_TOO_LARGE: [413, 'The request body exceeds the maximum accepted size'],
  SERVER_NOT_RUNNING_IN_HA_MODE: [400, 'The server is not running in HA mode. HA operations are not permitted'],
  SERVER_TOO_MANY_REQUESTS: [
    429,
    'Too many requests to alter state have been issued, please slow down or try again later',
  ],
  /** Not in the reference: the data file is not writable. */
  STORE_UNAVAILABLE: [503, 'The change was not made because it cannot be stored, see cause'],
  TRANSFER_LEADERSHIP_ERROR: [500, 'Error while attempting to transfer leadership'],
  UNAUTHORIZED: [
    401,
    'The request could not be completed. The session is not authorized or the credentials are invalid',
  ],
  /** Sent as UNHANDLED. The reference answers 500 although the request is at fault. */
  UNHANDLED_REQUEST: [400, 'An unhandled error occurred'],
  /** Sent as COULD_NOT_VALIDATE. */
  UNSUPPORTED_CONTENT_TYPE: [
    415,
    'The supplied request contains an invalid document or no valid accept content were available, see cause',
  ],
  UNSUPPORTED_MEDIA: [415, 'No suitable accept media types were detected, supports: application/json'],
  UNSUPPORTED_MEDIA_TYPE: [415, 'The content type is not supported'],
  UNHANDLED: [500, 'An unhandled error occurred'],
} as const satisfies Readonly<Record<string, readonly [number, string]>>);

export type ApiErrorCode = keyof typeof API_ERRORS;

/**
 * Details of an error beside code and message: a field of the request, or another error, which has no code of its own.
 */
export type ErrorCause =
  | { field: string; reason: string; value: string }
  | { code: 'UNHANDLED'; message: string }
  | { message?: string; data: unknown };

const SENT_AS: Partial<Readonly<Record<ApiErrorCode, ApiErrorCode>>> = {
  NOT_ACCEPTABLE: 'COULD_NOT_VALIDATE',
  UNHANDLED_REQUEST: 'UNHANDLED',
  UNSUPPORTED_CONTENT_TYPE: 'COULD_NOT_VALIDATE',
};

/** An error that the API answers. */
export class ApiError extends Error {
  readonly code: ApiErrorCode;
  readonly status: number;
  readonly details: ErrorCause | undefined;
  /** The `www-authenticate` header of the answer. */
  readonly challenge: string | undefined;

  constructor(code: ApiErrorCode, details?: ErrorCause, challenge?: string) {
    super(API_ERRORS[code][1]);
    this.name = 'ApiError';
    this.code = SENT_AS[code] ?? code;
    this.status = API_ERRORS[code][0];
    this.details = details;
    this.challenge = challenge;
  }
}

/**
 * A rejected login. Clients get the same answer for every reason, so that they learn nothing of identities; the journal
 * has the reason.
 */
export class LoginError extends ApiError {
  readonly reason: string;

  constructor(reason: string) {
    super('INVALID_AUTH');
    this.reason = reason;
  }
}

const MAX_DEPTH = 100;
/** Fields with credentials: error messages must not repeat their values. `targetToken` names a kind of token. */
const SECRET_FIELD = /(?:password|secret|(?<!\btarget)token|code)$/i;

function printable(field: string, value: unknown): string {
  const text = printed(value);
  return SECRET_FIELD.test(field) || text.includes('PRIVATE KEY') ? '' : text;
}

/**
 * reference fact: causes print values as text, `[a b]` for a list, `map[key:value]` for an object. Deeply nested parts
 * are cut off.
 */
function printed(value: unknown, depth = 0): string {
  if (value === null || value === undefined) return '<nil>';
  if (typeof value !== 'object') return String(value);
  if (depth === MAX_DEPTH) return '…';
  const inside = (each: unknown) => printed(each, depth + 1);
  if (Array.isArray(value)) return `[${value.map(inside).join(' ')}]`;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `map[${entries.map(([key, each]) => `${key}:${inside(each)}`).join(' ')}]`;
}

/** 400 for a field of the body. */
export function invalid(field: string, reason: string, value: unknown): ApiError {
  return new ApiError('COULD_NOT_VALIDATE', { field, reason, value: printable(field, value) });
}

/** 400 for a field value that violates a rule. */
export function invalidField(field: string, reason: string, value: unknown): ApiError {
  return new ApiError('INVALID_FIELD', {
    code: 'UNHANDLED',
    message: `the value '${printable(field, value)}' for '${field}' is invalid: ${reason}`,
  });
}

/** 404 for an unknown entity. */
export function notFound(singular: string, id: string): ApiError {
  return new ApiError('NOT_FOUND', { code: 'UNHANDLED', message: `${singular} with id ${id} not found` });
}

/** 415 for a body that is not JSON. reference fact: a body without a content type has the default one of HTTP. */
export function unsupported(given: string): ApiError {
  const contentType = given || 'application/octet-stream';
  const reason = `unsupported media type "${contentType}", only [application/json] are allowed`;
  return new ApiError('UNSUPPORTED_CONTENT_TYPE', { field: 'Content-Type', reason, value: contentType });
}

/** reference fact: some operations do not name the entity that was not found. */
export function withoutCause<T>(find: () => T): T {
  try {
    return find();
  } catch (error) {
    throw error instanceof ApiError && error.code === 'NOT_FOUND' ? new ApiError('NOT_FOUND') : error;
  }
}

/** 400 with only a message. */
export function badRequest(message: string): ApiError {
  return new ApiError('UNHANDLED_REQUEST', { code: 'UNHANDLED', message });
}
