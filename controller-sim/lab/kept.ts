// The parts of the simulator that a restore returns, and that a test may keep as they are.

export const KEPT = ['state', 'clock', 'faults', 'journal'] as const;
export type Kept = (typeof KEPT)[number];
