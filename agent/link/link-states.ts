// The life of one wanted link (a peer's listener and one of our dialers that fits), as a table. Illegal events are bugs; the
// wanted-links.ts performs the effects (reference fact: link, section 1.8).
//
//   pending ──dial──► dialing ──queueFull──► queueFailed ─┐
//                        │ └────dialError──► dialFailed ──┤──dial──► dialing
//                        └──linkUp──► established ──linkDown──► linkFailed ─┘
//   every state ──removed──► destRemoved

import { InvariantError } from '#lib/errors.ts';

export type LinkState =
  | 'pending'
  | 'dialing'
  | 'queueFailed'
  | 'dialFailed'
  | 'linkFailed'
  | 'destRemoved'
  | 'established';
export type LinkEvent = 'dial' | 'queueFull' | 'dialError' | 'linkUp' | 'linkDown' | 'removed';

export const LINK_TRANSITIONS: Readonly<Record<LinkState, Partial<Record<LinkEvent, LinkState>>>> = Object.freeze({
  // A link can also come up without our dial: the peer dialed us and the keys are equal.
  pending: { dial: 'dialing', linkUp: 'established', removed: 'destRemoved' },
  dialing: { queueFull: 'queueFailed', dialError: 'dialFailed', linkUp: 'established', removed: 'destRemoved' },
  queueFailed: { dial: 'dialing', linkUp: 'established', removed: 'destRemoved' },
  dialFailed: { dial: 'dialing', linkUp: 'established', removed: 'destRemoved' },
  linkFailed: { dial: 'dialing', linkUp: 'established', removed: 'destRemoved' },
  // A dial that was under way when the peer's own dial brought the link up ends in one of the last two.
  established: {
    linkUp: 'established',
    linkDown: 'linkFailed',
    dialError: 'established',
    queueFull: 'established',
    removed: 'destRemoved',
  },
  destRemoved: {
    linkUp: 'destRemoved',
    linkDown: 'destRemoved',
    dialError: 'destRemoved',
    queueFull: 'destRemoved',
    removed: 'destRemoved',
  },
});

/** The state after `event`. Throws InvariantError when the table has no such step. */
export function nextLinkState(state: LinkState, event: LinkEvent): LinkState {
  const next = LINK_TRANSITIONS[state][event];
  if (next === undefined) throw new InvariantError(`a link that is ${state} cannot take ${event}`);
  return next;
}

/** Whether a dial may begin in this state. */
export function canDial(state: LinkState): boolean {
  return LINK_TRANSITIONS[state].dial !== undefined;
}
