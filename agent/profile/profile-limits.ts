// The limits on recorded profiles, for the router and for its commands.

/** Milliseconds. A profile takes memory and time, so one is recorded at a time. */
export const LONGEST_PROFILE = 600_000;
/** Durations that a client may request, in seconds. */
export const PROFILE_RANGE = Object.freeze({ least: 0.1, most: LONGEST_PROFILE / 1_000 });
