// Requests a circuit from a controller on behalf of an SDK client: with the token of a service session (V2), or with
// the API session alone (V3) (reference facts: edge, section 5; control channel, section 4.4).

import { HIGH_LANE } from '#wire/channel/control-lanes.ts';
import { EdgeControlHeader, EdgeControlType, EdgeErrorCode, type RetryHint } from '#wire/gen/numbers.ts';
import { decodeBytesMap, encodeBytesMap, encodeStringList } from '#wire/header-values.ts';
import { Message } from '#wire/message.ts';
import type { PeerData } from '#wire/peer-data.ts';
import type { Controller } from '../../../control/controller.ts';
import type { Controllers } from '../../../control/controllers.ts';
import { SdkRejection } from '../clients/sdk-messages.ts';

export interface SdkCircuitRequest {
  /** How the controller finds identity and service. */
  readonly by: { readonly sessionToken: string } | { readonly identityId: string; readonly serviceId: string };
  readonly apiSessionToken: string;
  /** SHA-1 of all certificates that the client presented. */
  readonly fingerprints: readonly string[];
  readonly instanceId: string;
  readonly peerData: PeerData;
  /** Milliseconds. */
  readonly timeout: number;
  readonly signal: AbortSignal;
}

export interface SdkCircuit {
  readonly circuitId: string;
  /** Address of this end. */
  readonly address: string;
  readonly peerData: PeerData;
  readonly owner: string;
}

/** Removes circuits whose controller answered after the request was abandoned. */
export function removeLateSdkCircuits(
  controllers: Pick<Controllers, 'on'>,
  ends: { abandon(circuitId: string, role: 'initiator', owner: string): void },
): void {
  for (const type of [EdgeControlType.CreateCircuitV2Response, EdgeControlType.CreateCircuitV3Response])
    controllers.on(type, (controller, message) => {
      const circuitId = message.string(EdgeControlHeader.SessionToken);
      if (circuitId) ends.abandon(circuitId, 'initiator', controller.id);
    });
}

/** @throws SdkRejection if the controller rejects; rejects with TimeoutError, ClosedError or the signal's reason. */
export async function requestSdkCircuit(controller: Controller, request: SdkCircuitRequest): Promise<SdkCircuit> {
  const { timeout, signal } = request;
  const reply = await controller.request(toMessage(request), { timeout, signal, lane: HIGH_LANE });
  const circuitId = reply.string(EdgeControlHeader.SessionToken) ?? '';
  const isAnswer =
    reply.contentType === EdgeControlType.CreateCircuitV2Response ||
    reply.contentType === EdgeControlType.CreateCircuitV3Response;
  if (!isAnswer || circuitId === '') throw rejectionOf(reply);
  return {
    circuitId,
    address: reply.string(EdgeControlHeader.Fingerprints) ?? '',
    peerData: decodeBytesMap(reply.headers.get(EdgeControlHeader.PeerData)),
    owner: controller.id,
  };
}

function toMessage({ by, apiSessionToken, fingerprints, instanceId, peerData }: SdkCircuitRequest): Message {
  const common = [
    [EdgeControlHeader.ApiSessionToken, apiSessionToken],
    [EdgeControlHeader.Fingerprints, encodeStringList(fingerprints)],
    [EdgeControlHeader.TerminatorInstanceId, instanceId],
    [EdgeControlHeader.PeerData, encodeBytesMap(peerData)],
  ] as const;
  if ('sessionToken' in by)
    return new Message(EdgeControlType.CreateCircuitV2, [...common, [EdgeControlHeader.SessionToken, by.sessionToken]]);
  return new Message(EdgeControlType.CreateCircuitV3, [
    ...common,
    [EdgeControlHeader.IdentityId, by.identityId],
    [EdgeControlHeader.ServiceId, by.serviceId],
    [EdgeControlHeader.CircuitId, ''],
  ]);
}

/** A rejection without an error code counts as an internal error. */
function rejectionOf(reply: Message): SdkRejection {
  const code = (reply.uint32(EdgeControlHeader.ErrorCode) ?? EdgeErrorCode.Internal) as EdgeErrorCode;
  const hint = reply.uint32(EdgeControlHeader.RetryHint) as RetryHint | undefined;
  const circuitId = reply.string(EdgeControlHeader.SubscriptionId);
  const text = reply.body.toString() || `the controller answered with a message of type ${reply.contentType}`;
  return new SdkRejection(text, { code, ...(hint !== undefined && { hint }), circuitId });
}
