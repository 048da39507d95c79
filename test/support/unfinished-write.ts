// What a killed process has left of a write.

/** Goes between the name of a file and `.tmp` in the name of a temporary file of a process that does not run. */
export const ENDED_WRITE = '2000000000-01234567-0123456789ab';
