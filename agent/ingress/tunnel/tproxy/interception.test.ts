// Interception with programs that fail: what it reports, and when it retries.

import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { Test } from 'tap';
import { createLog } from '#lib/log/log.ts';
import { IoContext } from '#lib/net/io-context.ts';
import { VirtualClock } from '#lib/time/clock.ts';
import { inOwnNamespace } from '../../../../test/support/networks/network-namespace.ts';
import { programFolder } from '../../../../test/support/programs/program-folder.ts';
import { until } from '../../../../test/support/until.ts';
import { ChangesMarker } from '../system/changes-marker.ts';
import { LocalRoutes } from '../system/local-routes.ts';
import { Interception } from './interception.ts';

const RETRY = 10_000;

if (await inOwnNamespace(import.meta.filename, [])) await tests();

async function tests(): Promise<void> {
  const { default: t } = await import('tap');

  t.test('a service whose rules cannot be changed is not reported as intercepted', async (t) => {
    const { close, clock, messages, offer, broken, services } = await open(t, 'nft', 'cat > /dev/null');
    writeFileSync(broken, '');
    offer('web');
    await until('a failure', () => clock.timers().includes('interception retry'));
    t.same(services(), []);
    t.notOk(messages.includes('service intercepted'));
    rmSync(broken);
    await clock.advance(RETRY);
    await until('the retry', () => services().join() === 'web');
    t.equal(messages.filter((each) => each === 'service intercepted').length, 1);
    await close();
    t.same(clock.timers(), []);
  });

  t.test('rules that another program removes are restored', async (t) => {
    // Lists its table and rules unless the file `flushed` exists, which the next change removes.
    const script = `cd "$(dirname "$0")"
case "$1" in
  list) echo >> checks; test -e flushed || cat table; exit ;;
esac
rm -f flushed; sed -n 's/ {$//; /^table ip\\|tproxy/p' > table; echo change >> changes`;
    const { close, clock, messages, offer, broken, services } = await open(t, 'nft', script);
    const folder = dirname(broken);
    const changes = () => readFileSync(join(folder, 'changes'), 'utf8').split('\n').length;
    offer('web');
    await until('the rules', () => services().join() === 'web');
    const before = changes();
    const isRestored = () => messages.some((each) => each.startsWith('interception rules were removed'));
    await clock.advance(30_000);
    const checks = () => existsSync(join(folder, 'checks')) && readFileSync(join(folder, 'checks'), 'utf8');
    await until(
      'a check',
      () => checks() === '\n\n' && !clock.timers().some((name) => name.includes('system command')),
    );
    t.notOk(isRestored());
    writeFileSync(join(folder, 'flushed'), '');
    await clock.advance(30_000);
    await until('the next check', isRestored);
    await until('the rules again', () => changes() === before + 1 && !existsSync(join(folder, 'flushed')));
    t.same(services(), ['web']);
    await close();
    t.same(clock.timers(), []);
  });

  t.test('a check waits for a change in progress, and a change for a check', async (t) => {
    // Lists rules as they were before the file `held` is removed.
    const script = `cd "$(dirname "$0")"
case "$1" in
  list) touch listed; cat table; while test -e held; do sleep 0.01; done; exit ;;
esac
sed -n 's/ {$//; /^table ip\\|tproxy/p' > table`;
    const { close, clock, messages, offer, broken, services } = await open(t, 'nft', script);
    const file = (name: string) => join(dirname(broken), name);
    offer('web');
    await until('the rules', () => services().join() === 'web');
    writeFileSync(file('held'), '');
    await clock.advance(30_000);
    await until('a check', () => existsSync(file('listed')));
    offer('other');
    await setTimeout(200);
    t.same(services(), ['web'], 'the change waits');
    rmSync(file('held'));
    await until('the other rules', () => services().join() === 'other,web');
    t.notOk(messages.some((each) => each.startsWith('interception rules were removed')));
    await close();
    t.same(clock.timers(), []);
  });

  t.test('a hosts file that cannot be written is retried, and logged once', async (t) => {
    const { close, clock, messages, offer, broken } = await open(t, 'nft', 'cat > /dev/null');
    const hosts = join(dirname(broken), 'hosts');
    mkdirSync(hosts);
    offer('web', 'web.example');
    await until('a failure', () => clock.timers().includes('interception retry'));
    await clock.advance(RETRY);
    await until('another failure', () => clock.timers().includes('interception retry'));
    t.equal(messages.filter((each) => each === 'hosts file cannot be written').length, 1);
    rmSync(hosts, { recursive: true });
    await clock.advance(RETRY);
    await until('the name', () => existsSync(hosts) && readFileSync(hosts, 'utf8').includes('web.example'));
    await close();
    t.equal(readFileSync(hosts, 'utf8'), '');
    t.same(clock.timers(), []);
  });

  t.test('a failed insertion of an external diverter is retried', async (t) => {
    const { close, clock, offer, broken, services } = await open(t, 'divert', '', 'tproxy:divert');
    writeFileSync(broken, '');
    offer('web');
    await until('a failure', () => clock.timers().includes('interception retry'));
    t.same(services(), []);
    rmSync(broken);
    await clock.advance(RETRY);
    await until('the retry', () => services().join() === 'web');
    await close();
    t.same(clock.timers(), []);
  });
}

/** An interception whose programs do nothing; `program` also fails while the file `broken` exists. */
async function open(t: Test, program: string, script: string, mode = 'tproxy') {
  const folder = programFolder(t);
  const broken = join(folder, 'broken');
  for (const name of ['nft', 'ip', 'iptables']) writeFileSync(join(folder, name), '#!/bin/sh\n', { mode: 0o755 });
  writeFileSync(join(folder, program), `#!/bin/sh\n${script}\ntest ! -e ${broken}\n`, { mode: 0o755 });

  const messages: string[] = [];
  const log = createLog({ write: (line) => void messages.push(JSON.parse(line).msg) });
  const clock = new VirtualClock();
  const marker = new ChangesMarker(join(folder, 'changes'), log);
  const intercept = { protocols: ['tcp'], addresses: ['10.77.0.1'], portRanges: [{ low: 80, high: 80 }] };
  const offered: { id: string; name: string }[] = [];
  let onChange = () => undefined as unknown;
  const model = {
    identities: new Map([['r', { disabled: false }]]),
    servicesFor: () => offered,
    configsFor: () => new Map([['intercept.v1', intercept]]),
    onChange: (listener: () => void) => {
      onChange = listener;
      return () => undefined;
    },
  };
  const routes = new LocalRoutes({ clock, log, marker, routerId: 'r' });
  const io = new IoContext({ clock });
  const own = { routes, marker, routerId: 'r', acceptsCircuits: () => true, peers: () => [] };
  const components = { clock, io, log, model, ...own };
  const options = {
    mode,
    dnsSvcIpRange: '100.64.0.0/10',
    resolver: [`file://${folder}/hosts`],
    lanIf: [],
    dnsUpstream: [],
    dnsUpstreamMode: '',
    dnsUnanswerable: '',
  } as const;
  const interception = await Interception.open(
    components as unknown as Parameters<typeof Interception.open>[0],
    options,
    { timeout: 1_000, interval: 1_000 },
  );
  const close = async () => {
    await interception.close();
    await routes.close();
  };
  t.after(close);
  const offer = (name: string, address?: string) => {
    offered.push({ id: `id of ${name}`, name });
    if (address !== undefined) intercept.addresses.push(address);
    onChange();
  };
  const services = () => interception.describe().services as string[];
  return { close, clock, messages, offer, broken, services };
}
