// The interfaces of a machine whose process has no file descriptor left.

import t from 'tap';
import { withoutDescriptors } from '../../../test/support/programs/no-descriptors.ts';
import { ownInterfaces } from './own-interfaces.ts';

t.test('without a file descriptor they are the last known ones', { skip: process.platform !== 'linux' }, async (t) => {
  const seen = withoutDescriptors({
    before: `
      import { networkInterfaces } from 'node:os';
      import { ownInterfaces } from '${new URL('./own-interfaces.ts', import.meta.url).href}';
      const before = Object.keys(ownInterfaces());`,
    during: `
      let fails = false;
      try { networkInterfaces(); } catch { fails = true; }
      const after = Object.keys(ownInterfaces());`,
    result: '{ before, fails, after }',
  });
  const names = Object.keys(ownInterfaces());
  t.same(seen, { before: names, fails: true, after: names });
});
