// Maps the failure of a service dial to the error code that a controller acts upon (reference fact: messages, section
// 6), and to the reason under which the router counts it.

import { errorCode, ProjectError } from '#lib/errors.ts';
import { ownValue } from '#lib/json/own-value.ts';
import { RouteErrorCode } from '#wire/gen/numbers.ts';
import { type DialFailureReason, dialFailureReason } from '../metrics/dial-failures.ts';

/** A failure with a known error code. */
export class EgressError extends ProjectError {
  readonly routeErrorCode: RouteErrorCode;

  constructor(routeErrorCode: RouteErrorCode, message: string, options: { cause?: unknown } = {}) {
    super('EGRESS', message, options);
    this.routeErrorCode = routeErrorCode;
  }
}

const BY_SYSTEM_CODE: Readonly<Record<string, RouteErrorCode>> = Object.freeze({
  ECONNREFUSED: RouteErrorCode.ConnectionRefused,
  EMFILE: RouteErrorCode.ResourcesNotAvailable,
  ENFILE: RouteErrorCode.ResourcesNotAvailable,
  ENOBUFS: RouteErrorCode.ResourcesNotAvailable,
  QUEUE_FULL: RouteErrorCode.ResourcesNotAvailable,
  ENOTFOUND: RouteErrorCode.DnsResolutionFailed,
  EAI_AGAIN: RouteErrorCode.DnsResolutionFailed,
  ETIMEDOUT: RouteErrorCode.DialTimedOut,
  TIMEOUT: RouteErrorCode.DialTimedOut,
});

export function routeErrorCodeOf(error: unknown): RouteErrorCode {
  if (error instanceof EgressError) return error.routeErrorCode;
  const code = errorCode(error);
  const known = code === undefined ? undefined : ownValue(BY_SYSTEM_CODE, code);
  if (known !== undefined) return known;
  const cause = error instanceof Error ? error.cause : undefined;
  return cause === undefined ? RouteErrorCode.Generic : routeErrorCodeOf(cause);
}

/** Generic errors have the reason of their cause. */
const BY_ROUTE_CODE: ReadonlyMap<RouteErrorCode, DialFailureReason> = new Map([
  [RouteErrorCode.InvalidTerminator, 'terminator'],
  [RouteErrorCode.MisconfiguredTerminator, 'terminator'],
  [RouteErrorCode.DialTimedOut, 'timeout'],
  [RouteErrorCode.ConnectionRefused, 'refused'],
  [RouteErrorCode.RejectedByApplication, 'rejected'],
  [RouteErrorCode.DnsResolutionFailed, 'name'],
  [RouteErrorCode.PortNotAllowed, 'rejected'],
  [RouteErrorCode.ResourcesNotAvailable, 'resources'],
]);

export function serviceFailureReason(error: unknown): DialFailureReason {
  const known = error instanceof EgressError ? BY_ROUTE_CODE.get(error.routeErrorCode) : undefined;
  return known ?? dialFailureReason(error);
}
