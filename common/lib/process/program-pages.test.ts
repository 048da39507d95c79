// Pages of the program file are unmapped, but never pages that would lose their content.

import { readFileSync } from 'node:fs';
import t from 'tap';
import { releaseProgramPages, unchangedMappings } from './program-pages.ts';

const SMAPS = `00400000-0082e000 r--p 00000000 fe:00 42                            /opt/my node
Size:               4280 kB
Rss:                4280 kB
Anonymous:             0 kB
VmFlags: rd mr mw me
0082e000-03489000 r-xp 0042e000 fe:00 42                                 /opt/my node
Anonymous:             0 kB
072a8000-072c0000 r--p 06ea7000 fe:00 42                                 /opt/my node
Anonymous:            96 kB
072c0000-072d0000 rw-p 06ebf000 fe:00 42                                 /opt/my node
Anonymous:             0 kB
09a4e000-0b291000 rw-p 00000000 00:00 0                                  [heap]
Anonymous:         17708 kB
7ff25a9c0000-7ff27a740000 r--p 00000000 00:00 0 
Anonymous:             0 kB
7ff285244000-7ff28539a000 r-xp 00026000 fe:00 43                         /opt/my node.so
Anonymous:             0 kB
ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]
Anonymous:             0 kB
`;

t.test('only pages that the file still holds are unmapped', async (t) => {
  t.same(unchangedMappings(SMAPS, '/opt/my node'), [
    { start: 0x400000n, length: 0x42e000n },
    { start: 0x82e000n, length: 0x2c5b000n },
  ]);
  t.same(unchangedMappings('', '/opt/my node'), []);
});

t.test('less of the program is in memory, and it goes on', { skip: process.platform !== 'linux' }, async (t) => {
  const resident = () => Number(/RssFile:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) / 1024;
  const before = resident();
  releaseProgramPages();
  const after = resident();
  // How much less depends on the memory that the machine had for the file: 10 to 50 MiB.
  t.ok(after < before, `${after} instead of ${before} MiB`);
  t.equal(new Intl.DateTimeFormat('en', { timeZone: 'UTC' }).format(0), '1/1/1970');
});
