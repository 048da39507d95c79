// Failed dials by what was dialed and by reason, for the Prometheus page. The reasons are a fixed set, so that their
// number cannot grow with what peers answer; the log has the whole error.

import { errorCode } from '#lib/errors.ts';
import { ownValue } from '#lib/json/own-value.ts';

export const DIAL_TARGETS = ['controller', 'link', 'service'] as const;
type DialTarget = (typeof DIAL_TARGETS)[number];

export const DIAL_FAILURE_REASONS = [
  'refused',
  'timeout',
  'name',
  'unreachable',
  'closed',
  'tls',
  'rejected',
  'terminator',
  'queue_full',
  'resources',
  'canceled',
  'other',
] as const;
export type DialFailureReason = (typeof DIAL_FAILURE_REASONS)[number];

const BY_CODE: Readonly<Record<string, DialFailureReason>> = Object.freeze({
  ECONNREFUSED: 'refused',
  ETIMEDOUT: 'timeout',
  TIMEOUT: 'timeout',
  ENOTFOUND: 'name',
  EAI_AGAIN: 'name',
  EHOSTUNREACH: 'unreachable',
  ENETUNREACH: 'unreachable',
  EHOSTDOWN: 'unreachable',
  ENETDOWN: 'unreachable',
  EADDRNOTAVAIL: 'resources',
  ECONNRESET: 'closed',
  EPIPE: 'closed',
  HELLO_REJECTED: 'rejected',
  QUEUE_FULL: 'queue_full',
  EMFILE: 'resources',
  ENFILE: 'resources',
  ENOBUFS: 'resources',
  ENOMEM: 'resources',
  CLOSED: 'canceled',
  CIRCUIT_OVER: 'canceled',
  ABORT_ERR: 'canceled',
});
/** Codes of OpenSSL, and its results of the verification of a certificate. */
const TLS_CODE =
  /^(?:EPROTO$|ERR_(?:TLS|SSL|OSSL)_|CERT_|CRL_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|ERROR_IN_CERT_|INVALID_(?:CA|PURPOSE)$|PATH_LENGTH_|HOSTNAME_MISMATCH$)/;

/** The reason of the error, or of the first of its causes that has one. */
export function dialFailureReason(error: unknown): DialFailureReason {
  for (let cause = error; cause !== undefined && cause !== null; cause = (cause as { cause?: unknown }).cause) {
    const code = errorCode(cause);
    const reason = code === undefined ? undefined : ownValue(BY_CODE, code);
    if (reason) return reason;
    if (code !== undefined && TLS_CODE.test(code)) return 'tls';
  }
  return 'other';
}

export class DialFailures {
  readonly #counts = new Map<string, number>();

  count(target: DialTarget, reason: DialFailureReason): void {
    this.#counts.set(`${target} ${reason}`, this.of(target, reason) + 1);
  }

  of(target: DialTarget, reason: DialFailureReason): number {
    return this.#counts.get(`${target} ${reason}`) ?? 0;
  }
}
