// The datagrams of a UDP socket that the router can answer. Raw sockets can send from port 0, and Node's `send` and
// `connect` throw for that port.

import type { RemoteInfo, Socket } from 'node:dgram';

/** Calls `onDatagram` for each datagram; those from port 0 are dropped. */
export function receiveDatagrams(
  socket: Pick<Socket, 'on'>,
  onDatagram: (data: Buffer, source: RemoteInfo) => void,
): void {
  socket.on('message', (data, source) => {
    if (source.port !== 0) onDatagram(data, source);
  });
}
