// The answer to a failed edge request: a text, a code for the client, and whether to retry.

import { describeError } from '#lib/errors.ts';
import { EdgeControlHeader, EdgeControlType, EdgeErrorCode, RetryHint } from '#wire/gen/numbers.ts';
import { encodeUint32 } from '#wire/header-values.ts';
import { Message } from '#wire/message.ts';
import { CircuitError } from '../../network/circuit-failure.ts';

/** A rejected edge request. */
export class EdgeError extends CircuitError {}

export function edgeErrorMessage(error: unknown): Message {
  const { edgeCode, hint, circuitId } =
    error instanceof CircuitError
      ? error
      : { edgeCode: EdgeErrorCode.Internal, hint: RetryHint.Default, circuitId: undefined };
  return new Message(
    EdgeControlType.Error,
    [
      [EdgeControlHeader.ErrorCode, encodeUint32(edgeCode)],
      [EdgeControlHeader.RetryHint, encodeUint32(hint)],
      ...(circuitId === undefined ? [] : ([[EdgeControlHeader.SubscriptionId, circuitId]] as const)),
    ],
    describeError(error),
  );
}
