// Opens the UDP socket to a service. The socket is connected, so that it receives datagrams of this service only.

import { createSocket, type Socket } from 'node:dgram';
import { lookup } from 'node:dns/promises';
import { unlessAborted } from '#lib/time/abort.ts';
import { requireDescriptor } from './circuit-descriptors.ts';
import { type DialLimits, withinTime } from './dial-deadline.ts';

export interface DatagramTarget {
  readonly host: string;
  readonly port: number;
  /** 4 or 6 to restrict the IP version. */
  readonly family?: 4 | 6;
}

export interface DatagramDialOptions extends DialLimits {
  localAddress?: string | undefined;
  localPort?: number | undefined;
}

/** Resolves with a connected socket. Rejects with the system's error or TimeoutError, and closes the socket. */
export function dialDatagram(target: DatagramTarget, options: DatagramDialOptions): Promise<Socket> {
  return withinTime(`udp:${target.host}`, options, async (signal) => {
    const { address, family } = await unlessAborted(signal, lookup(target.host || 'localhost', lookupOptions(target)));
    const socket = createSocket(family === 6 ? 'udp6' : 'udp4');
    requireDescriptor(options.io.clientSockets, socket, () => socket.close());
    try {
      await unlessAborted(signal, connected(socket, address, target.port, options));
      return socket;
    } catch (error) {
      socket.on('error', () => undefined); // the first error was already reported
      socket.close();
      throw error;
    }
  });
}

function lookupOptions({ family }: DatagramTarget): { family: 0 | 4 | 6 } {
  return { family: family ?? 0 };
}

async function connected(
  socket: Socket,
  address: string,
  port: number,
  { localAddress, localPort }: DatagramDialOptions,
): Promise<void> {
  const failed = new Promise<never>((_resolve, reject) => socket.once('error', reject));
  failed.catch(() => undefined); // awaited below, or the socket is closed
  if (localAddress !== undefined || localPort !== undefined) {
    const bound = new Promise<void>((resolve) => socket.once('listening', resolve));
    socket.bind({ port: localPort ?? 0, ...(localAddress !== undefined && { address: localAddress }) });
    await Promise.race([bound, failed]);
  }
  const isConnected = new Promise<void>((resolve) => socket.once('connect', resolve));
  socket.connect(port, address);
  await Promise.race([isConnected, failed]);
  socket.removeAllListeners('error');
}
