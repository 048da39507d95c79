// Explanations on a terminal: a sentence, and a line for each reason with its remedy. Of both programs.

export interface Reason {
  readonly ok: boolean;
  /** The explained thing does not hold because of it. */
  readonly blocking?: boolean;
  readonly message: string;
  readonly remedy?: string;
}

/** Lines without a newline at the end. `no` marks a problem with an alternative that works, `NO` one that blocks. */
export function showReasons(summary: string, reasons: readonly Reason[]): string {
  return [summary, ...reasons.flatMap(lines)].join('\n');
}

function lines({ ok, blocking, message, remedy }: Reason): string[] {
  const mark = ok ? 'ok' : blocking ? 'NO' : 'no';
  return [`  ${mark}  ${message}`, ...(remedy === undefined ? [] : [`      → ${remedy}`])];
}
