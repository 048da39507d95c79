// Errors between two ends of a channel: one class per decision of the side that detects them.

import { ProjectError } from '#lib/errors.ts';

/** The bytes of the peer violate the protocol. The connection is unusable. */
export class ProtocolError extends ProjectError {
  constructor(message: string, options: { cause?: unknown; detail?: Record<string, unknown> } = {}) {
    super('PROTOCOL', message, options);
  }
}

/** The other side rejected the hello, or closed the connection without an answer. */
export class HelloRejectedError extends ProjectError {
  constructor(message: string, options: { retriable?: boolean; cause?: unknown } = {}) {
    super('HELLO_REJECTED', message, { retriable: true, ...options });
  }
}

/** A message could not be queued, because the peer reads too slowly. */
export class SendQueueFullError extends ProjectError {
  constructor(what: string) {
    super('SEND_QUEUE_FULL', `the send queue of ${what} is full`, { retriable: true });
  }
}

/** The other side answered a request with a failure. */
export class RequestFailedError extends ProjectError {
  constructor(message: string, options: { retriable?: boolean; detail?: Record<string, unknown> } = {}) {
    super('REQUEST_FAILED', message, options);
  }
}
