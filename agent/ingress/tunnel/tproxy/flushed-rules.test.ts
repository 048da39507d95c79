// The firewall's rules in the kernel of a network namespace, after another program has removed them.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLog } from '#lib/log/log.ts';
import { SystemClock } from '#lib/time/clock.ts';
import { inOwnNamespace, run } from '../../../../test/support/networks/network-namespace.ts';
import { ChangesMarker } from '../system/changes-marker.ts';
import { Firewall } from './firewall.ts';

if (await inOwnNamespace(import.meta.filename, ['nft', 'iptables'])) await tests();

async function tests(): Promise<void> {
  const { default: t } = await import('tap');
  const folder = mkdtempSync(join(tmpdir(), 'edgeweave-test-'));
  t.teardown(() => rmSync(folder, { recursive: true }));

  t.test('rules that another program removes are restored', async (t) => {
    const [clock, marker] = [new SystemClock(), new ChangesMarker(join(folder, 'changes'), silentLog)];
    const firewall = new Firewall(
      { clock, log: silentLog, marker, routerId: 'router' },
      { sockets: { tcp: 1, udp: 2 }, lanInterfaces: ['lan0', 'lan1'] },
    );
    const diversion = { addresses: [{ first: 1, last: 9 }], networks: [], ports: [{ first: 80, last: 81 }] };
    const all = { ...diversion, serviceId: 'id', comment: 'tproxy to nobody', sources: [], interfaces: [] };
    const diversions = (['tcp', 'udp'] as const).map((protocol) => ({ ...all, protocol }));
    await firewall.open();
    await firewall.apply(diversions);
    const rules = () => [run('nft', 'list', 'ruleset'), run('iptables', '-S')];
    const [before, table] = [rules(), /table ip (edgeweave_\w+)/.exec(rules()[0] ?? '')?.[1] ?? ''];
    const [chain = ''] = /edgeweave-\w+/.exec(run('iptables', '-S')) ?? [];
    t.ok(await firewall.isIntact());
    t.match(before[0], /tproxy to 127\.0\.0\.1:1 .*tproxy to 127\.0\.0\.1:2 /s);

    const removals: readonly (readonly [string, ...string[]])[] = [
      ['nft', 'flush', 'ruleset'],
      ['nft', 'delete', 'table', 'ip', table],
      ['nft', 'flush', 'table', 'ip', table],
      ['iptables', '-F'],
      ['iptables', '-F', 'INPUT'],
      ['iptables', '-F', chain],
      ['iptables', '-D', chain, '1'],
    ];
    for (const [program, ...args] of removals) {
      run(program, ...args);
      t.notOk(await firewall.isIntact(), [program, ...args].join(' '));
      await firewall.apply(diversions);
      t.same(rules().map(sorted), before.map(sorted), 'restored');
      t.ok(await firewall.isIntact());
    }
    await firewall.close();
    t.notMatch(rules().join(''), /edgeweave/);
  });
}

function sorted(text: string): string[] {
  return text.split('\n').sort();
}
