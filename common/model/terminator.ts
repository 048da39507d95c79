// Facts about terminators that both programs check.

/** The largest cost of a terminator (reference fact: a field of 16 bits). */
export const MAX_COST = 65_535;
