// The interfaces of a machine whose process has no file descriptor left.

import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import t from 'tap';
import { ownInterfaces } from './own-interfaces.ts';

const SCRIPT = `
import { closeSync, openSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { ownInterfaces } from ${JSON.stringify(join(import.meta.dirname, 'own-interfaces.ts'))};
const before = Object.keys(ownInterfaces());
const open = [];
try { for (;;) open.push(openSync('/dev/null', 'r')); } catch {}
let fails = false;
try { networkInterfaces(); } catch { fails = true; }
const after = Object.keys(ownInterfaces());
for (const each of open) closeSync(each);
console.log(JSON.stringify({ before, fails, after }));
`;

t.test('without a file descriptor they are the last known ones', { skip: process.platform !== 'linux' }, async (t) => {
  const command = 'ulimit -n 128; exec "$0" --input-type=module -e "$1"';
  const output = execFileSync('sh', ['-c', command, process.execPath, SCRIPT], { encoding: 'utf8' });
  const names = Object.keys(ownInterfaces());
  t.same(JSON.parse(output), { before: names, fails: true, after: names });
});
