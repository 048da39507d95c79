// How commands end: 0 done, 1 the work failed, 2 wrong use.

export const Exit = Object.freeze({ Done: 0, Failed: 1, WrongUse: 2 } as const);

/** A line for people, on stderr. */
export function complain(message: string): void {
  process.stderr.write(`${message}\n`);
}

/** Results, on stdout. */
export function print(text: string): void {
  process.stdout.write(text.endsWith('\n') ? text : `${text}\n`);
}

/** Whoever reads us may stop reading (`| head`): that is no error. */
process.stdout.on('error', (error: NodeJS.ErrnoException) =>
  process.exit(error.code === 'EPIPE' ? Exit.Done : Exit.Failed),
);
