// Findings in the log of a router.

import t from 'tap';
import { createLog } from '#lib/log/log.ts';
import { type FindingInit, finding } from './finding.ts';
import { logFindings } from './log-findings.ts';

t.test('settings that only the reference rejects are logged as information', async (t) => {
  const lines: string[] = [];
  const log = createLog({ write: (line) => void lines.push(line) });
  const warning = (code: FindingInit['code']) =>
    finding({ severity: 'warning', code, path: 'web', at: { line: 1, column: 1 }, message: code });
  logFindings(log, 'router.yml', [warning('CFG-PORTABILITY'), warning('CFG-IGNORED')]);
  t.match(
    lines.map((line) => JSON.parse(line)),
    [
      { level: 'info', code: 'CFG-PORTABILITY', msg: 'configuration finding' },
      { level: 'warn', code: 'CFG-IGNORED', msg: 'configuration finding' },
    ],
  );
});
