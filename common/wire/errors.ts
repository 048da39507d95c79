// Errors between two ends of a channel: one class for each decision of the side that notices.

import { ProjectError } from '#lib/errors.ts';

/** The bytes of the peer are not the protocol. The connection cannot be used any more. */
export class ProtocolError extends ProjectError {
  constructor(message: string, options: { cause?: unknown; detail?: Record<string, unknown> } = {}) {
    super('PROTOCOL', message, options);
  }
}

/** The other side answered the hello with a refusal, or closed instead of answering it. */
export class HelloRefusedError extends ProjectError {
  constructor(message: string, options: { retriable?: boolean; cause?: unknown } = {}) {
    super('HELLO_REFUSED', message, { retriable: true, ...options });
  }
}

/** A message could not be queued, because the peer takes them more slowly than they are made. */
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
