// The connections of a port: which of them count as handshakes.

import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import t from 'tap';
import { ClientSockets } from '#lib/net/client-sockets.ts';
import { PortConnections } from './port-connections.ts';

/** A connection of one client port to an address of this machine. */
class FakeSocket extends EventEmitter {
  readonly remoteAddress = '192.0.2.1';
  readonly remotePort = 40_000;
  readonly localPort = 443;
  readonly localAddress: string;
  destroyed = false;

  constructor(localAddress: string) {
    super();
    this.localAddress = localAddress;
  }

  destroy(): void {
    this.destroyed = true;
  }
}

t.test('connections of one client port to several addresses of the machine are distinct', async (t) => {
  const connections = new PortConnections({ connections: 10, handshakes: 10 }, new ClientSockets());
  const [first, second] = [new FakeSocket('10.0.0.1'), new FakeSocket('10.0.0.2')];
  for (const socket of [first, second]) connections.add(socket as unknown as Socket);
  connections.secured(first as unknown as Socket);
  connections.closeHandshakes();
  t.same([first.destroyed, second.destroyed], [false, true]);
});
