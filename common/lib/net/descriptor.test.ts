// Copies of descriptors, also without a free one.

import { execFileSync } from 'node:child_process';
import t from 'tap';
import { whyNoSystemLibrary } from '../process/system-library.ts';

const PROGRAM = `
  import { openSync } from 'node:fs';
  import { connect, createServer } from 'node:net';
  import { copyDescriptor } from '${new URL('./descriptor.ts', import.meta.url)}';
  const server = createServer((socket) => {
    const before = typeof copyDescriptor(socket);
    try {
      for (;;) openSync('/dev/null');
    } catch {} // no descriptor is left
    console.log(before, typeof copyDescriptor(socket), typeof copyDescriptor({}));
    process.exit();
  }).listen(0, '127.0.0.1', () => connect(server.address().port, '127.0.0.1'));
`;

t.test('without a free descriptor there is no copy', { skip: whyNoSystemLibrary() ?? false }, async (t) => {
  const node = [process.execPath, ...process.execArgv, '--input-type=module', '--eval', PROGRAM];
  const output = execFileSync('sh', ['-c', 'ulimit -n 64; exec "$@"', 'sh', ...node], { encoding: 'utf8' });
  t.equal(output, 'number undefined undefined\n');
});
