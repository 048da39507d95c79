// The firewall's changes to this machine after failures.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { silentLog } from '#lib/log/log.ts';
import { SystemClock } from '#lib/time/clock.ts';
import { programFolder } from '../../../../test/support/programs/program-folder.ts';
import { ChangesMarker } from '../system/changes-marker.ts';
import { Firewall } from './firewall.ts';

/** A firewall with an iptables whose calls fail if they contain one of the arguments. */
function firewallWith(t: Test, failing: string) {
  const folder = programFolder(t);
  const calls = join(folder, 'calls');
  const iptables = `#!/bin/sh\necho "$4" >> ${calls}\ncase "$4" in ${failing}) exit 1 ;; esac\n`;
  writeFileSync(join(folder, 'nft'), '#!/bin/sh\ncat > /dev/null\n', { mode: 0o755 });
  writeFileSync(join(folder, 'iptables'), iptables, { mode: 0o755 });
  const marker = new ChangesMarker(join(folder, 'changes'), silentLog);
  const firewall = new Firewall(
    { clock: new SystemClock(), log: silentLog, marker, routerId: 'r' },
    { sockets: { tcp: 1, udp: 2 }, lanInterfaces: ['lan0'] },
  );
  return { firewall, marker, calls: () => readFileSync(calls, 'utf8').trim().split('\n'), folder };
}

t.test('an iptables chain that cannot be completed is removed', async (t) => {
  for (const failing of ['-A', '-I']) {
    const { firewall, marker, calls, folder } = firewallWith(t, failing);
    await t.rejects(firewall.open(), { code: 'SYSTEM_COMMAND' });
    t.same(calls().slice(-4), [failing, '-F', '-D', '-X']);
    marker.clear();
    t.notOk(existsSync(join(folder, 'changes')), 'the next start has nothing to remove');
  }
});

t.test('a chain that cannot be removed either remains recorded', async (t) => {
  const { firewall, marker, folder } = firewallWith(t, '-A | -F');
  await t.rejects(firewall.open(), { code: 'SYSTEM_COMMAND' });
  marker.clear();
  t.ok(existsSync(join(folder, 'changes')));
});

t.test('the iptables chain is removed at the end, even if nft fails', async (t) => {
  const { firewall, marker, calls, folder } = firewallWith(t, 'none');
  await firewall.open();
  writeFileSync(join(folder, 'nft'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
  await firewall.close();
  t.same(calls().slice(-3), ['-F', '-D', '-X']);
  marker.clear();
  t.ok(existsSync(join(folder, 'changes')), 'the next start removes the nft table');
});
