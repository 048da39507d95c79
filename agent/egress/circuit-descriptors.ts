// The file descriptors of circuits: their connections count among the sockets that clients cause.

import { type ClientSockets, NO_DESCRIPTOR } from '#lib/net/client-sockets.ts';
import { RouteErrorCode } from '#wire/gen/numbers.ts';
import { EgressError } from './dial-errors.ts';

type Closable = Parameters<ClientSockets['admit']>[0];

/** Counts the socket of a circuit until it is closed. @throws EgressError at the limit, and closes the socket */
export function requireDescriptor(clientSockets: ClientSockets, socket: Closable, close: () => void): void {
  if (clientSockets.admit(socket)) return;
  close();
  throw new EgressError(RouteErrorCode.ResourcesNotAvailable, NO_DESCRIPTOR);
}
