// The two kinds of circuit ends for SDK clients, created in the same way for dialing and hosting clients.

import type { Clock } from '#lib/time/clock.ts';
import type { Forwarder } from '../../../forwarder/forwarder.ts';
import type { CircuitEnds } from '../../../xgress/circuit-ends.ts';
import type { XgressOptions } from '../../../xgress/options.ts';
import type { Right } from '../clients/right.ts';
import type { SdkConnection } from '../clients/sdk-connection.ts';
import { DataClient } from './data-client.ts';
import { SdkRelay, type SdkRelayInit } from './sdk-relay.ts';

export interface SdkEndComponents {
  clock: Clock;
  forwarder: Forwarder;
  ends: CircuitEnds;
  options: XgressOptions;
  onUnroutable(circuitId: string): void;
}

/**
 * Creates an end with the router's flow control. It receives the client's messages from now on; the caller attaches the
 * xgress.
 */
export function dataEnd(
  { clock }: Pick<SdkEndComponents, 'clock'>,
  connection: SdkConnection,
  right: Right,
  connectionId: number,
): DataClient {
  const client: DataClient = new DataClient(
    { clock, link: connection, connectionId, holder: connection.session.identityId },
    () => connection.remove(connectionId, client),
  );
  connection.put(connectionId, client, right);
  return client;
}

/**
 * Creates an end with the client's own flow control. `owner` is the id of the circuit's controller, which is notified
 * when the client ends it.
 */
export function relayEnd(
  { clock, forwarder, ends, options, onUnroutable }: SdkEndComponents,
  connection: SdkConnection,
  right: Right,
  { owner, ...init }: SdkRelayInit & { readonly owner: string },
): SdkRelay {
  const { connectionId, circuitId, role } = init;
  const abandon = () => ends.abandon(circuitId, role, owner);
  const onCut = () => connection.closingEnds.willClose(circuitId);
  const onGone = () => connection.remove(connectionId, relay);
  const relay: SdkRelay = new SdkRelay(
    { clock, forwarder, link: connection, options, onUnroutable, abandon, onCut, onGone },
    init,
  );
  connection.put(connectionId, relay, right);
  return relay;
}
