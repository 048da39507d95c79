// Exit codes of the commands: 0 done, 1 the work failed, 2 wrong usage.

export const Exit = Object.freeze({ Done: 0, Failed: 1, WrongUse: 2 } as const);

/** Prints a line for people to stderr. */
export function printError(message: string): void {
  process.stderr.write(`${message}\n`);
}

/** Prints results to stdout. */
export function print(text: string): void {
  process.stdout.write(text.endsWith('\n') ? text : `${text}\n`);
}

/** Ignores EPIPE: the reader may stop early (`| head`). */
process.stdout.on('error', (error: NodeJS.ErrnoException) =>
  process.exit(error.code === 'EPIPE' ? Exit.Done : Exit.Failed),
);
