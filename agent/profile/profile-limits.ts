// The limits on recorded profiles, for the router and for its commands.

/** Milliseconds. A profile takes memory and time, so one is recorded at a time. */
export const MAX_PROFILE_MS = 600_000;
/** Durations that a client may request, in seconds. */
export const PROFILE_RANGE = Object.freeze({ min: 0.1, max: MAX_PROFILE_MS / 1_000 });
