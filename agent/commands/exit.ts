// Exit codes of the commands: 0 done, 1 the work failed, 2 wrong usage.

export const Exit = Object.freeze({ Done: 0, Failed: 1, WrongUse: 2 } as const);

/** Ignores EPIPE: the reader may stop early (`| head`). */
process.stdout.on('error', (error: NodeJS.ErrnoException) =>
  process.exit(error.code === 'EPIPE' ? Exit.Done : Exit.Failed),
);
