// Reads the system's knowledge about a TCP connection: the round trip of its path, and how many bytes the peer's system
// has acknowledged. It also reads and selects the system's congestion control of the connection. Linux only (`TCP_INFO`
// and `TCP_CONGESTION`, tcp(7)); one reading costs about a microsecond. It judges none of the numbers.

import { readFileSync } from 'node:fs';
import { ProjectError } from '../errors.ts';
import { type SystemLibrary, systemLibrary, whyNoSystemLibrary } from '../process/system-library.ts';
import { descriptorOf } from './descriptor.ts';

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
  /** Bytes that were sent, again or not, and bytes that were sent again. */
  sent: number;
  sentAgain: number;
}

export interface TcpSensor {
  /** Reads the state into `state`. Returns false if the connection is closed. */
  read(state: TcpState): boolean;
  /** The name of the congestion control, for example `cubic`; undefined if the connection is closed. */
  congestionControl(): string | undefined;
  /**
   * Continues the connection with another congestion control.
   *
   * @throws ProjectError if `net.ipv4.tcp_allowed_congestion_control` lacks it: the operator's choice, although
   * programs
   *   with CAP_NET_ADMIN could select any; SystemCallError if the system rejects it
   */
  setCongestionControl(name: string): void;
}

type Calls = Readonly<{
  getsockopt(fd: number, level: number, name: number, value: Buffer, length: Buffer): number;
  setsockopt(fd: number, level: number, name: number, value: Buffer, length: number): number;
}>;

const SIGNATURES = {
  getsockopt: { arguments: ['i32', 'i32', 'i32', 'buffer', 'buffer'], return: 'i32' },
  setsockopt: { arguments: ['i32', 'i32', 'i32', 'buffer', 'u32'], return: 'i32' },
};
const IPPROTO_TCP = 6;
const TCP_INFO = 11;
const TCP_CONGESTION = 13;
const ALLOWED_CONGESTION_CONTROLS = '/proc/sys/net/ipv4/tcp_allowed_congestion_control';
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
  const system = systemCalls();
  if (!system) return undefined;
  const sensor: TcpSensor = {
    read(state) {
      const fd = descriptorOf(stream);
      return fd !== undefined && readInto(system.functions, fd, state);
    },
    congestionControl() {
      const fd = descriptorOf(stream);
      return fd === undefined ? undefined : readCongestionControl(system.functions, fd);
    },
    setCongestionControl(name) {
      const fd = descriptorOf(stream);
      if (fd === undefined) return;
      assertAllowed(name);
      const value = Buffer.from(name);
      const result = system.functions.setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, value, value.length);
      system.check(`setsockopt(TCP_CONGESTION, ${name})`, result);
    },
  };
  return sensor.read(unknownTcpState()) ? sensor : undefined;
}

/** The state before the first `read`. */
export function unknownTcpState(): TcpState {
  return {
    rtt: 0,
    delivered: 0,
    inFlight: 0,
    unsent: 0,
    unacknowledged: 0,
    congestionWindow: 0,
    lost: 0,
    sent: 0,
    sentAgain: 0,
  };
}

function readInto(calls: Calls, fd: number, state: TcpState): boolean {
  answerLength.writeUInt32LE(LENGTH);
  if (calls.getsockopt(fd, IPPROTO_TCP, TCP_INFO, answer, answerLength) !== 0) return false;
  if (answerLength.readUInt32LE() < MIN_LENGTH) return false;
  const acknowledged = readUInt64(Field.BytesAcked);
  state.sent = readUInt64(Field.BytesSent);
  state.sentAgain = readUInt64(Field.BytesRetransmitted);
  const unacknowledged = Math.max(0, state.sent - state.sentAgain - acknowledged);
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

function readCongestionControl(calls: Calls, fd: number): string | undefined {
  answerLength.writeUInt32LE(LENGTH);
  if (calls.getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, answer, answerLength) !== 0) return undefined;
  return answer.toString('latin1', 0, answerLength.readUInt32LE()).split('\0', 1)[0];
}

function assertAllowed(name: string): void {
  const allowed = readFileSync(ALLOWED_CONGESTION_CONTROLS, 'latin1').trim();
  if (!allowed.split(/\s+/).includes(name))
    throw new ProjectError('CONGESTION_CONTROL', `net.ipv4.tcp_allowed_congestion_control has no ${name}: ${allowed}`);
}

function readUInt64(offset: number): number {
  return Number(answer.readBigUInt64LE(offset));
}

function systemCalls(): SystemLibrary<Calls> | undefined {
  if (library === undefined) library = whyNoSystemLibrary() === undefined ? systemLibrary<Calls>(SIGNATURES) : null;
  return library ?? undefined;
}
