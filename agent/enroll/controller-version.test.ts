// Which releases of controllers are too old.

import t from 'tap';
import { isTooOld } from './controller-version.ts';

t.test('releases before 2.0 are too old; versions without a release number are not', (t) => {
  for (const old of ['v1.6.20', '1.1.15', 'v0.34.2', 'v1.99.0-pre1']) t.ok(isTooOld(old), old);
  for (const usable of ['v2.0.0', '2.0.3', 'v2.1.0-pre2', 'v10.0.0', 'v0.0.0', 'local', '', 'v1'])
    t.notOk(isTooOld(usable), usable);
  t.end();
});
