// The states of one end of a circuit, as a table; xgress.ts performs the effects. Each direction ends separately:
// `send` by the client of this end or by a rejection of the peer, `receive` by the end that the peer sent.
//
//   waiting ──start──► open ──endSending──► sendingEnded ──endReceiving──► draining
//                       │                        └──discard──► discarding ────┘ ▲
//                       └──endReceiving──► receivingEnded ──────endSending──────┘
//
//   open, sendingEnded ──unroute──► delivering ──endReceiving, discard──► delivered
//   receivingEnded, discarding, draining ──unroute──► delivered
//   every state ──close──► closed
//
// The functions below run for each payload, so they compare the state with constants.

import { nextState, type Transitions } from '#lib/transitions.ts';

export type XgressState =
  /** A terminator waits for the first payload of the initiator. */
  | 'waiting'
  | 'open'
  | 'sendingEnded'
  | 'receivingEnded'
  /** The client disconnected after it ended its direction: data for it is dropped until the peer ends. */
  | 'discarding'
  /** Both directions ended; the client must still read the rest, or the peer must acknowledge it. */
  | 'draining'
  /** The controller removed the circuit, and all data of the peer has arrived: the client must still read the rest. */
  | 'delivering'
  /** The controller removed the circuit, and the client has received all its data. */
  | 'delivered'
  | 'closed';
export type XgressEvent = 'start' | 'endSending' | 'endReceiving' | 'discard' | 'unroute' | 'close';

export const XGRESS_TRANSITIONS: Transitions<XgressState, XgressEvent> = Object.freeze({
  waiting: { start: 'open', close: 'closed' },
  open: { endSending: 'sendingEnded', endReceiving: 'receivingEnded', unroute: 'delivering', close: 'closed' },
  sendingEnded: { endReceiving: 'draining', discard: 'discarding', unroute: 'delivering', close: 'closed' },
  receivingEnded: { endSending: 'draining', unroute: 'delivered', close: 'closed' },
  discarding: { endReceiving: 'draining', discard: 'discarding', unroute: 'delivered', close: 'closed' },
  draining: { discard: 'draining', unroute: 'delivered', close: 'closed' },
  delivering: { endReceiving: 'delivered', discard: 'delivered', close: 'closed' },
  delivered: { discard: 'delivered', close: 'closed' },
  closed: {},
});

/** Bits of the flags in inspections. */
const CLOSED_FLAG = 1;
const PEER_ENDED_FLAG = 2;
const LOCAL_ENDED_FLAG = 4;

/** Returns the state after `event`. @throws InvariantError if the table has no such transition. */
export function nextXgressState(state: XgressState, event: XgressEvent): XgressState {
  return nextState(XGRESS_TRANSITIONS, state, event, 'the end of a circuit');
}

/** The client may send data. */
export function isSending(state: XgressState): boolean {
  return state === 'open' || state === 'receivingEnded';
}

/** The client needs data that the peer sent. */
export function isReceiving(state: XgressState): boolean {
  return state === 'open' || state === 'sendingEnded' || state === 'delivering';
}

/** The controller has not removed the circuit, so this end exchanges payloads with its peer. */
export function isRouted(state: XgressState): boolean {
  return state !== 'delivering' && state !== 'delivered' && state !== 'closed';
}

/** The end that the peer sent was delivered, or nothing can follow it. */
export function hasPeerEnded(state: XgressState): boolean {
  return state === 'receivingEnded' || state === 'draining' || state === 'delivered';
}

/**
 * Neither direction carries data any longer: the circuit closes when nothing waits for an acknowledgement or a reader.
 */
export function isEnding(state: XgressState): boolean {
  return state === 'draining' || state === 'discarding' || state === 'delivered';
}

/** The flags in inspections of circuits. */
export function inspectionFlags(state: XgressState): number {
  const isLocalEnded = state !== 'waiting' && !isSending(state);
  return (
    (state === 'closed' ? CLOSED_FLAG : 0) |
    (hasPeerEnded(state) ? PEER_ENDED_FLAG : 0) |
    (isLocalEnded ? LOCAL_ENDED_FLAG : 0)
  );
}
