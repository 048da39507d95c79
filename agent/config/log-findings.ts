// Findings of the configuration as log lines, with the level of their severity: a log that nobody reads as it is
// written can be searched for them. An operator acts on warnings, so those about the reference are only information.

import type { Log } from '#lib/log/log.ts';
import type { Finding, FindingCode, Severity } from './finding.ts';

const LEVELS = { error: 'error', warning: 'warn', info: 'info' } as const satisfies Record<Severity, keyof Log>;

/** Another program may reject the file; this router works with it. */
const FOR_OTHERS: FindingCode = 'CFG-PORTABILITY';

/** One line for each finding. The log limits the lines of a file with thousands of mistakes. */
export function logFindings(log: Log, file: string, findings: readonly Finding[]): void {
  for (const { severity, code, path, line, column, message, hint } of findings)
    log[code === FOR_OTHERS ? 'info' : LEVELS[severity]](
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
