// The states of a terminator that this router keeps at its controllers, as a table; terminators.ts performs the
// effects.
//
//   establishing ──request──► requested ──created──► established ──reconnected──► unconfirmed
//        ▲                        └──failed──► establishing  ▲                       │    │
//        │                                                   └────────confirmed──────┘    │
//        ├──────────────────────────overdue─────────────────────────────────────────────┘
//        └──resume── suspended ◄──suspend── every state

import type { Transitions } from '#lib/transitions.ts';

export type TerminatorState = 'establishing' | 'requested' | 'established' | 'unconfirmed' | 'suspended';
export type TerminatorEvent =
  | 'request'
  | 'created'
  | 'failed'
  /** A controller named the terminator when it validated its own: it has it. */
  | 'confirmed'
  /** A controller returned, and may have lost the terminator. */
  | 'reconnected'
  | 'overdue'
  | 'suspend'
  | 'resume';

/** These may occur at any time: answers may be late, and a drain may begin. */
const ANYTIME = {
  created: 'established',
  failed: 'establishing',
  suspend: 'suspended',
} as const;

export const TERMINATOR_TRANSITIONS: Transitions<TerminatorState, TerminatorEvent> = Object.freeze({
  // A confirmation of a terminator that is being created does not replace the answer, which has effects. A removal that
  // was sent earlier may follow it, too.
  establishing: { ...ANYTIME, request: 'requested', confirmed: 'establishing', reconnected: 'establishing' },
  requested: { ...ANYTIME, confirmed: 'requested', reconnected: 'requested' },
  established: { ...ANYTIME, confirmed: 'established', reconnected: 'unconfirmed' },
  // The answer to an earlier request says nothing about the controller that has returned since.
  unconfirmed: {
    ...ANYTIME,
    created: 'unconfirmed',
    confirmed: 'established',
    reconnected: 'unconfirmed',
    overdue: 'establishing',
  },
  suspended: { suspend: 'suspended', resume: 'establishing' },
});
