// Builds the Route for each router of a path, and reads the peer data in its result (reference fact: control channel,
// section 4.4).
//
//   ingress ─► link 1 ─► … ─► link n ─► egress        forwards go both ways; only the last router dials

import { create, toBinary } from '@bufbuild/protobuf';
import { DestType, RouteSchema } from '#wire/gen/control_pb.js';
import { ControlType, RouteHeader } from '#wire/gen/numbers.ts';
import { Message } from '#wire/message.ts';
import { type PeerData, peerDataEntries } from '#wire/peer-data.ts';
import type { Terminator } from '../state/kinds/terminator.ts';
import type { Circuit } from './circuit.ts';

export interface RouteOptions {
  /** Starts at 0; assigns results to attempts. */
  readonly attempt: number;
  /** Time limit for the router in milliseconds. */
  readonly timeout: number;
  /** The destination that the last router dials; undefined if it has dialed already. */
  readonly egress: { readonly terminator: Terminator; readonly peerData: PeerData } | undefined;
}

const NANOSECONDS = 1_000_000n;
const MIN_PEER_DATA_KEY = 1_000;
const ROUTE_HEADERS: ReadonlySet<number> = new Set(Object.values(RouteHeader));

/** The message for the router at a position of the circuit's path, counted from the ingress. */
export function routeMessage(circuit: Circuit, position: number, options: RouteOptions): Message {
  const { routers, links } = circuit.path;
  const isFirst = position === 0;
  const isLast = position === routers.length - 1;
  const before = isFirst ? circuit.ingress : (links[position - 1] ?? '');
  const after = isLast ? circuit.egress : (links[position] ?? '');
  const route = create(RouteSchema, {
    circuitId: circuit.id,
    attempt: options.attempt,
    forwards: [
      { srcAddress: before, dstAddress: after, dstType: isLast ? DestType.END : DestType.LINK },
      { srcAddress: after, dstAddress: before, dstType: isFirst ? DestType.START : DestType.LINK },
    ],
    timeout: BigInt(options.timeout) * NANOSECONDS,
    tags: circuit.tags,
    context: {
      fields: { circuitId: circuit.id, serviceId: circuit.serviceId, attemptNumber: String(options.attempt) },
    },
    ...(isLast && options.egress && { egress: egressOf(circuit, options.egress) }),
  });
  return new Message(ControlType.Route, [], toBinary(RouteSchema, route));
}

/** Peer data is sent as headers of the result, among the message's own headers. */
export function peerDataOf(result: Message): PeerData {
  const peerData = new Map<number, Buffer>();
  for (const [key, value] of result.headers) {
    if (key >= MIN_PEER_DATA_KEY && !ROUTE_HEADERS.has(key)) peerData.set(key, value);
  }
  return peerData;
}

function egressOf(circuit: Circuit, { terminator, peerData }: NonNullable<RouteOptions['egress']>) {
  return {
    binding: terminator.binding,
    address: circuit.egress,
    destination: terminator.address,
    peerData: peerDataEntries(peerData),
  };
}
