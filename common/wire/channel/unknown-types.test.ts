// Which messages of unknown types become warnings.

import t from 'tap';
import { createLog } from '#lib/log/log.ts';
import { UnknownTypes } from './unknown-types.ts';

t.test('each type of each peer is reported once, with the release that sends it', (t) => {
  const lines: Record<string, unknown>[] = [];
  const log = createLog({ format: 'json', write: (line) => void lines.push(JSON.parse(line)) });
  const types = new UnknownTypes(log, 'routerId');
  for (const type of [20404, 20404, 20406]) types.received({ id: 'r1', version: 'v1.1.15' }, type);
  types.received({ id: 'r2', version: 'v2.0.3' }, 20404);
  const text = 'messages of an unknown type are ignored';
  t.match(lines, [
    { level: 'warn', msg: text, routerId: 'r1', version: 'v1.1.15', contentType: 20404 },
    { routerId: 'r1', contentType: 20406 },
    { routerId: 'r2', contentType: 20404 },
  ]);
  for (let type = 30_000; type < 31_000; type++) types.received({ id: 'r2', version: 'v2.0.3' }, type);
  t.equal(lines.length, 34, 'peers cannot fill the log');
  t.end();
});
