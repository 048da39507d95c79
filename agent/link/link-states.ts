// The states of one wanted link (one of a peer's listeners and one of our dialers that share a group), as a table.
// Illegal events are bugs; wanted-links.ts and redials.ts perform the effects (reference fact: link, section 1.8).
//
//   pending ──dial──► dialing ──queueFull──► queueFailed ─┐
//                        │ └────dialError──► dialFailed ──┤──dial──► dialing
//                        └──linkUp──► established ──linkDown──► linkFailed ─┘
//   every state ──removed──► destRemoved

import { nextState, type Transitions } from '#lib/transitions.ts';

export type LinkState =
  | 'pending'
  | 'dialing'
  | 'queueFailed'
  | 'dialFailed'
  | 'linkFailed'
  | 'destRemoved'
  | 'established';
export type LinkEvent = 'dial' | 'queueFull' | 'dialError' | 'linkUp' | 'linkDown' | 'removed';

export const LINK_TRANSITIONS: Transitions<LinkState, LinkEvent> = Object.freeze({
  // A link may also come up without our dial: the peer dialed us and the keys are equal.
  pending: { dial: 'dialing', linkUp: 'established', removed: 'destRemoved' },
  dialing: { queueFull: 'queueFailed', dialError: 'dialFailed', linkUp: 'established', removed: 'destRemoved' },
  queueFailed: { dial: 'dialing', linkUp: 'established', removed: 'destRemoved' },
  dialFailed: { dial: 'dialing', linkUp: 'established', removed: 'destRemoved' },
  linkFailed: { dial: 'dialing', linkUp: 'established', removed: 'destRemoved' },
  // The last two events: our own dial ends after the peer's dial has established the link.
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

/** Returns the state after `event`. @throws InvariantError if the table has no such transition. */
export function nextLinkState(state: LinkState, event: LinkEvent): LinkState {
  return nextState(LINK_TRANSITIONS, state, event, 'a link');
}

/** Whether a dial may start in this state. */
export function canDial(state: LinkState): boolean {
  return LINK_TRANSITIONS[state].dial !== undefined;
}
