// Reads the system's knowledge about a TCP connection: the round trip of its path, and how many bytes the peer's system
// has acknowledged. Linux only (`TCP_INFO` of getsockopt(2)); one reading costs about a microsecond. It judges none of
// the numbers.

import type { Socket } from 'node:net';
import { type SystemLibrary, systemLibrary, whyNoSystemLibrary } from './system-library.ts';

/** Bytes and milliseconds. */
export interface TcpState {
  /** Smoothed round trip. 0 before the first acknowledgement. */
  rtt: number;
  /** Bytes that reached the peer's system, selectively acknowledged ones included. */
  delivered: number;
  /** Bytes on the path. */
  inFlight: number;
  /** Bytes that the system has accepted and not sent. */
  unsent: number;
  /** Bytes that the peer's system has not acknowledged in order: sent or not. */
  unacknowledged: number;
  /** Bytes that may be on the path, by the system's congestion control. */
  congestionWindow: number;
  /** Packets that were sent again. */
  lost: number;
}

export interface TcpSensor {
  /** Reads the state into `state`. Returns false if the connection is closed. */
  read(state: TcpState): boolean;
}

type Calls = Readonly<{
  getsockopt(fd: number, level: number, name: number, value: Buffer, length: Buffer): number;
}>;

const SIGNATURES = { getsockopt: { arguments: ['i32', 'i32', 'i32', 'buffer', 'buffer'], return: 'i32' } };
const IPPROTO_TCP = 6;
const TCP_INFO = 11;
/** Offsets in `struct tcp_info` (linux/tcp.h); fields are only ever added at its end. */
const Field = Object.freeze({
  SendMss: 16,
  Unacked: 24,
  Sacked: 28,
  Lost: 32,
  Retransmitting: 36,
  Rtt: 68,
  CongestionWindow: 80,
  Retransmitted: 100,
  BytesAcked: 120,
  NotSent: 144,
  BytesSent: 200,
  BytesRetransmitted: 208,
} as const);
/** Bytes up to the last field that is used: Linux 4.19 and later. */
const MIN_LENGTH = 216;
const LENGTH = 256;
const MICROSECONDS = 1e-3;

let library: SystemLibrary<Calls> | null | undefined;
/** Memory of the call, which is synchronous. */
const answer = Buffer.alloc(LENGTH);
const answerLength = Buffer.alloc(4);

/** Undefined where the system or Node lacks the call, and for streams other than TCP connections. */
export function tcpSensor(stream: object): TcpSensor | undefined {
  const calls = systemCalls();
  const handle = (stream as { _handle?: { fd?: number } | null })._handle;
  if (!calls || typeof handle?.fd !== 'number' || handle.fd < 0) return undefined;
  const sensor: TcpSensor = {
    read(state) {
      const fd = (stream as Socket & { _handle?: { fd?: number } | null })._handle?.fd;
      return typeof fd === 'number' && fd >= 0 && readInto(calls, fd, state);
    },
  };
  return sensor.read(unknownTcpState()) ? sensor : undefined;
}

/** The state before the first `read`. */
export function unknownTcpState(): TcpState {
  return { rtt: 0, delivered: 0, inFlight: 0, unsent: 0, unacknowledged: 0, congestionWindow: 0, lost: 0 };
}

function readInto(calls: Calls, fd: number, state: TcpState): boolean {
  answerLength.writeUInt32LE(LENGTH);
  if (calls.getsockopt(fd, IPPROTO_TCP, TCP_INFO, answer, answerLength) !== 0) return false;
  if (answerLength.readUInt32LE() < MIN_LENGTH) return false;
  const acknowledged = readUInt64(Field.BytesAcked);
  const sent = readUInt64(Field.BytesSent) - readUInt64(Field.BytesRetransmitted);
  const unacknowledged = Math.max(0, sent - acknowledged);
  const unacked = answer.readUInt32LE(Field.Unacked);
  const sacked = answer.readUInt32LE(Field.Sacked);
  const missing = answer.readUInt32LE(Field.Lost);
  const packets = unacked - sacked - missing + answer.readUInt32LE(Field.Retransmitting);
  // Only a mean is known for some of the packets: those of small frames are much smaller than the largest ones.
  const size = unacked > 0 ? unacknowledged / unacked : 0;
  const notSent = answer.readUInt32LE(Field.NotSent);
  state.rtt = answer.readUInt32LE(Field.Rtt) * MICROSECONDS;
  state.delivered = acknowledged + Math.round(sacked * size);
  state.inFlight = Math.round(Math.max(0, packets) * size);
  state.unsent = notSent + Math.round(missing * size);
  state.unacknowledged = notSent + unacknowledged;
  state.lost = answer.readUInt32LE(Field.Retransmitted);
  state.congestionWindow = answer.readUInt32LE(Field.CongestionWindow) * answer.readUInt32LE(Field.SendMss);
  return true;
}

function readUInt64(offset: number): number {
  return Number(answer.readBigUInt64LE(offset));
}

function systemCalls(): Calls | undefined {
  if (library === undefined) library = whyNoSystemLibrary() === undefined ? systemLibrary<Calls>(SIGNATURES) : null;
  return library?.functions;
}
