// The names of files that a killed process leaves behind.

/** Goes between the name of a file and `.tmp` in the name of a temporary file of a process that does not run. */
export const ENDED_WRITE = '2000000000-01234567-0123456789ab';
