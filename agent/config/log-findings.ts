// Findings of the configuration as log lines, with the level of their severity: a log that nobody reads as it is
// written can be searched for them.

import type { Log } from '#lib/log/log.ts';
import type { Finding, Severity } from './finding.ts';

const LEVELS = { error: 'error', warning: 'warn', info: 'info' } as const satisfies Record<Severity, keyof Log>;

/** One line for each finding. The log limits the lines of a file with thousands of mistakes. */
export function logFindings(log: Log, file: string, findings: readonly Finding[]): void {
  for (const { severity, code, path, line, column, message, hint } of findings)
    log[LEVELS[severity]](
      {
        code,
        file,
        line,
        column,
        ...(path !== '' && { key: path }),
        reason: message,
        ...(hint !== '' && { remedy: hint }),
      },
      'configuration finding',
    );
}
