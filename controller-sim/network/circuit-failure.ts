// Reasons why a circuit cannot be created: for the client, for events, and for the costs of terminators.

import { ProjectError, TimeoutError } from '#lib/errors.ts';
import { type EdgeErrorCode, RetryHint, RouteErrorCode } from '#wire/gen/numbers.ts';
import type { ServiceEventType } from './network-events.ts';

/** reference fact: HTTP behaviour, Events: `failure_cause` of circuits. */
export type FailureCause =
  | 'NO_TERMINATORS'
  | 'NO_ONLINE_TERMINATORS'
  | 'NO_PATH'
  | 'ROUTER_RESPONSE_TIMEOUT'
  | (typeof ROUTE_FAILURES)[RouteErrorCode]['cause'];

interface RouteFailure {
  readonly cause: string;
  readonly counter: ServiceEventType;
}

const OTHER = 'service.dial.error_other';
const ROUTE_FAILURES = Object.freeze({
  [RouteErrorCode.Generic]: { cause: 'ROUTER_ERR_GENERIC', counter: OTHER },
  [RouteErrorCode.InvalidTerminator]: {
    cause: 'ROUTER_ERR_INVALID_TERMINATOR',
    counter: 'service.dial.terminator.invalid',
  },
  [RouteErrorCode.MisconfiguredTerminator]: {
    cause: 'ROUTER_ERR_MISCONFIGURED_TERMINATOR',
    counter: 'service.dial.terminator.misconfigured',
  },
  [RouteErrorCode.DialTimedOut]: { cause: 'ROUTER_ERR_DIAL_TIMED_OUT', counter: 'service.dial.terminator.timeout' },
  [RouteErrorCode.ConnectionRefused]: {
    cause: 'ROUTER_ERR_CONN_REFUSED',
    counter: 'service.dial.terminator.connection_refused',
  },
  [RouteErrorCode.RejectedByApplication]: { cause: 'ROUTER_ERR_REJECTED_BY_APPLICATION', counter: OTHER },
  [RouteErrorCode.DnsResolutionFailed]: { cause: 'ROUTER_ERR_DNS_RESOLUTION_FAILED', counter: OTHER },
  [RouteErrorCode.PortNotAllowed]: { cause: 'ROUTER_ERR_PORT_NOT_ALLOWED', counter: OTHER },
  [RouteErrorCode.InvalidLinkDestination]: { cause: 'ROUTER_ERR_INVALID_LINK_DESTINATION', counter: OTHER },
  [RouteErrorCode.ResourcesNotAvailable]: { cause: 'ROUTER_ERR_RESOURCES_NOT_AVAILABLE', counter: OTHER },
} as const satisfies Readonly<Record<RouteErrorCode, RouteFailure>>);

/** A circuit that cannot be created; the client receives the code. */
export class CircuitError extends ProjectError {
  readonly edgeCode: EdgeErrorCode;
  readonly hint: RetryHint;
  readonly circuitId: string | undefined;
  /** Undefined for requests that were rejected before a terminator was selected. */
  readonly failure: FailureCause | undefined;

  constructor(
    edgeCode: EdgeErrorCode,
    message: string,
    options: { hint?: RetryHint; circuitId?: string; failure?: FailureCause; cause?: unknown } = {},
  ) {
    super('CIRCUIT', message, { cause: options.cause });
    this.edgeCode = edgeCode;
    this.hint = options.hint ?? RetryHint.Default;
    this.circuitId = options.circuitId;
    this.failure = options.failure;
  }
}

/** A router rejected its part of a path. */
export class RouteFailed extends ProjectError {
  readonly routerId: string;
  readonly routeCode: RouteErrorCode;

  constructor(message: string, routerId: string, routeCode: RouteErrorCode) {
    super('ROUTE_FAILED', message);
    this.routerId = routerId;
    this.routeCode = routeCode;
  }
}

/** The name and the counter of a failed attempt. */
export function failureOf(error: unknown): { cause: FailureCause; counter: ServiceEventType } {
  if (error instanceof TimeoutError) return { cause: 'ROUTER_RESPONSE_TIMEOUT', counter: 'service.dial.timeout' };
  return ROUTE_FAILURES[error instanceof RouteFailed ? error.routeCode : RouteErrorCode.Generic];
}
