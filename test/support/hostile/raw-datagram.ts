// Datagrams that only a raw socket can send: their source port is 0. Needs root of the network namespace.

import { systemLibrary } from '#lib/process/system-library.ts';

type Calls = Readonly<
  Record<'socket' | 'sendto' | 'close', (...args: (number | bigint | Buffer)[]) => number | bigint>
>;

const AF_INET = 2;
const SOCK_RAW = 3;
const IPPROTO_UDP = 17;
const UDP_HEADER = 8;
const INT = 'i32';

/** Sends a datagram from source port 0 to an IPv4 address. */
export function sendFromPortZero(data: Buffer, port: number, host: string): void {
  const { functions: calls, check } = systemLibrary<Calls>({
    socket: { arguments: [INT, INT, INT], return: INT },
    sendto: { arguments: [INT, 'buffer', 'u64', INT, 'buffer', 'u32'], return: 'i64' },
    close: { arguments: [INT], return: INT },
  });
  const datagram = Buffer.concat([Buffer.alloc(UDP_HEADER), data]);
  datagram.writeUInt16BE(port, 2);
  datagram.writeUInt16BE(datagram.length, 4);
  const address = Buffer.alloc(16);
  address.writeUInt16LE(AF_INET, 0);
  address.set(host.split('.').map(Number), 4);
  const fd = check('socket', calls.socket(AF_INET, SOCK_RAW, IPPROTO_UDP));
  try {
    check('sendto', calls.sendto(fd, datagram, BigInt(datagram.length), 0, address, address.length));
  } finally {
    calls.close(fd);
  }
}
