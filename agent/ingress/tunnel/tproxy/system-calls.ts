// The system calls of Linux that Node lacks: transparent sockets, and datagrams with their original destination. They
// use Node's own foreign function interface, and are loaded only for interception.

import { ProjectError } from '#lib/errors.ts';
import { type SystemLibrary, systemLibrary, whyNoSystemLibrary } from '#lib/process/system-library.ts';
import { ipv4ToNumber, ipv4ToText } from './ipv4.ts';

export interface SocketAddress {
  readonly host: string;
  readonly port: number;
}

export interface ReceivedDatagram {
  readonly data: Buffer;
  readonly source: SocketAddress;
  /** The destination before interception. */
  readonly destination: SocketAddress;
}

const AF_INET = 2;
const SOCK_STREAM = 1;
const SOCK_DGRAM = 2;
const SOCK_NONBLOCK = 0o4000;
const SOCK_CLOEXEC = 0o2000000;
const SOL_SOCKET = 1;
const SO_REUSEADDR = 2;
const SOL_IP = 0;
const IP_TRANSPARENT = 19;
const IP_RECVORIGDSTADDR = 20;
const MSG_DONTWAIT = 0x40;
const POLLIN = 1;
const EFD_NONBLOCK = SOCK_NONBLOCK;
const EFD_CLOEXEC = SOCK_CLOEXEC;
const BACKLOG = 511;
/** The largest UDP datagram over IPv4. */
const MAX_DATAGRAM_BYTES = 65_507;
const ADDRESS_SIZE = 16;
const CONTROL_HEADER = 16;

type Calls = Readonly<
  Record<
    'socket' | 'setsockopt' | 'bind' | 'listen' | 'getsockname' | 'recvmsg' | 'poll' | 'eventfd' | 'write' | 'close',
    (...args: (number | bigint | Buffer)[]) => number | bigint
  >
>;

const INT = 'i32';
const SIGNATURES = {
  socket: { arguments: [INT, INT, INT], return: INT },
  setsockopt: { arguments: [INT, INT, INT, 'buffer', 'u32'], return: INT },
  bind: { arguments: [INT, 'buffer', 'u32'], return: INT },
  listen: { arguments: [INT, INT], return: INT },
  getsockname: { arguments: [INT, 'buffer', 'buffer'], return: INT },
  recvmsg: { arguments: [INT, 'buffer', INT], return: 'i64' },
  poll: { arguments: ['buffer', 'u64', INT], return: INT },
  eventfd: { arguments: ['u32', INT], return: INT },
  write: { arguments: [INT, 'buffer', 'u64'], return: 'i64' },
  close: { arguments: [INT], return: INT },
};

let loaded: SystemLibrary<Calls> | undefined;

/** @throws ProjectError if the platform does not have the calls declared here */
function foreign(): SystemLibrary<Calls> {
  loaded ??= load();
  return loaded;
}

function load(): SystemLibrary<Calls> {
  const reason = whyNoSystemLibrary();
  if (reason !== undefined) throw new ProjectError('TPROXY_PLATFORM', `interception ${reason}; use mode host or proxy`);
  return systemLibrary<Calls>(SIGNATURES);
}

/** Opens a TCP listener for connections to any address that are diverted to it. Returns its file descriptor. */
export function openTransparentListener(at: SocketAddress): number {
  return openSocket(SOCK_STREAM, [IP_TRANSPARENT], at, (fd) =>
    check('listen', foreign().functions.listen(fd, BACKLOG)),
  );
}

/** Opens a UDP socket that receives diverted datagrams to any address. */
export function openTransparentReceiver(at: SocketAddress): number {
  return openSocket(SOCK_DGRAM, [IP_TRANSPARENT, IP_RECVORIGDSTADDR], at);
}

/** Opens a UDP socket bound to a foreign address, so that answers come from that address. */
export function openTransparentSender(at: SocketAddress): number {
  return openSocket(SOCK_DGRAM, [IP_TRANSPARENT], at);
}

/** The address that a socket is bound to. */
export function boundAddress(fd: number): SocketAddress {
  const address = Buffer.alloc(ADDRESS_SIZE);
  const size = Buffer.alloc(4);
  size.writeUInt32LE(ADDRESS_SIZE);
  check('getsockname', foreign().functions.getsockname(fd, address, size));
  return decodeAddress(address);
}

export function closeDescriptor(fd: number): void {
  foreign().functions.close(fd);
}

/** A file descriptor that `signalEvent` makes readable. */
export function openEvent(): number {
  return check('eventfd', foreign().functions.eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
}

export function signalEvent(fd: number): void {
  const one = Buffer.alloc(8);
  one.writeBigUInt64LE(1n);
  check('write', foreign().functions.write(fd, one, 8n));
}

/** Blocks the thread until one of the descriptors is readable. Returns the readable ones. */
export function waitReadable(descriptors: readonly number[]): boolean[] {
  const polled = Buffer.alloc(8 * descriptors.length);
  for (const [index, fd] of descriptors.entries()) {
    polled.writeInt32LE(fd, 8 * index);
    polled.writeInt16LE(POLLIN, 8 * index + 4);
  }
  // The buffer has the answer, even after an interruption.
  foreign().functions.poll(polled, BigInt(descriptors.length), -1);
  return descriptors.map((_fd, index) => polled.readInt16LE(8 * index + 6) !== 0);
}

/** Reads datagrams with their original destinations. A reader belongs to one thread. */
export class DatagramReader {
  readonly #fd: number;
  readonly #data = Buffer.alloc(MAX_DATAGRAM_BYTES);
  readonly #source = Buffer.alloc(ADDRESS_SIZE);
  readonly #control = Buffer.alloc(64);
  readonly #vector = Buffer.alloc(16);
  readonly #message = Buffer.alloc(56);

  constructor(fd: number) {
    this.#fd = fd;
    const { getRawPointer } = foreign();
    this.#vector.writeBigUInt64LE(getRawPointer(this.#data), 0);
    this.#vector.writeBigUInt64LE(BigInt(this.#data.length), 8);
    this.#message.writeBigUInt64LE(getRawPointer(this.#source), 0);
    this.#message.writeBigUInt64LE(getRawPointer(this.#vector), 16);
    this.#message.writeBigUInt64LE(1n, 24);
    this.#message.writeBigUInt64LE(getRawPointer(this.#control), 32);
  }

  /** The next datagram; undefined if there is none. @throws SystemCallError */
  read(): ReceivedDatagram | undefined {
    for (;;) {
      this.#message.writeUInt32LE(ADDRESS_SIZE, 8);
      this.#message.writeBigUInt64LE(BigInt(this.#control.length), 40);
      const { functions: calls } = foreign();
      const length = Number(calls.recvmsg(this.#fd, this.#message, MSG_DONTWAIT));
      if (length < 0) return undefined; // EAGAIN, or the error of an earlier datagram
      const destination = this.#destination();
      const source = decodeAddress(this.#source);
      if (!destination || source.port === 0) continue; // a raw socket can send from port 0: no answer is possible
      // The other thread gets a copy of the whole memory of a buffer, so it must not be a part of Node's pool.
      const data = Buffer.allocUnsafeSlow(length);
      this.#data.copy(data, 0, 0, length);
      return { data, source, destination };
    }
  }

  /** Reads the control message of the kernel; datagrams without one were not diverted. */
  #destination(): SocketAddress | undefined {
    const controlLength = Number(this.#message.readBigUInt64LE(40));
    if (controlLength < CONTROL_HEADER + ADDRESS_SIZE) return undefined;
    const isOurs = this.#control.readInt32LE(8) === SOL_IP && this.#control.readInt32LE(12) === IP_RECVORIGDSTADDR;
    return isOurs ? decodeAddress(this.#control.subarray(CONTROL_HEADER)) : undefined;
  }
}

function openSocket(
  type: number,
  options: readonly number[],
  at: SocketAddress,
  complete: (fd: number) => unknown = () => undefined,
): number {
  const { functions: calls } = foreign();
  const fd = check('socket', calls.socket(AF_INET, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  try {
    const on = Buffer.from([1, 0, 0, 0]);
    check('setsockopt SO_REUSEADDR', calls.setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, on, on.length));
    for (const option of options)
      check('setsockopt IP_TRANSPARENT', calls.setsockopt(fd, SOL_IP, option, on, on.length));
    check('bind', calls.bind(fd, encodeAddress(at), ADDRESS_SIZE));
    complete(fd);
    return fd;
  } catch (error) {
    closeDescriptor(fd);
    throw error;
  }
}

function check(call: string, result: number | bigint): number {
  return foreign().check(call, result);
}

function encodeAddress({ host, port }: SocketAddress): Buffer {
  const address = Buffer.alloc(ADDRESS_SIZE);
  address.writeUInt16LE(AF_INET, 0);
  address.writeUInt16BE(port, 2);
  address.writeUInt32BE(ipv4ToNumber(host), 4);
  return address;
}

function decodeAddress(address: Buffer): SocketAddress {
  return { host: ipv4ToText(address.readUInt32BE(4)), port: address.readUInt16BE(2) };
}
