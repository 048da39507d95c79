// Changes that mode tproxy leaves on the machine: after floods, a stop, kill -9, and a failed start.

import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';
import { inOwnNamespace } from '../support/networks/network-namespace.ts';
import { Overlay } from '../support/networks/overlay.ts';
import {
  curl,
  execute,
  intercepted,
  network,
  PROGRAMS,
  prepareNamespace,
  queryName,
  startDaemon,
  traces,
} from '../support/networks/tproxy.ts';
import { until } from '../support/until.ts';

if (await inOwnNamespace(import.meta.filename, PROGRAMS)) await tests();

async function tests(): Promise<void> {
  const { default: t } = await import('tap');
  t.after(prepareNamespace());

  t.test('floods and half-open connections are limited, and leave no descriptors, sessions or timers', async (t) => {
    const { overlay, web, a, offer } = await network({ udpIdleTimeout: '5s', udpCheckInterval: '1s' });
    await using _ = overlay;
    await offer('evil" accept; flush ruleset #', { addresses: ['10.77.0.1', '*.wild.example'] });
    const nobody = { protocol: 'udp', address: '127.0.0.1', port: 1 };
    await offer(
      'udp',
      { addresses: ['10.77.0.2'], protocols: ['udp'], portRanges: [{ low: 1, high: 65_535 }] },
      { host: nobody },
    );
    await overlay.ready();
    await until('interception', () => intercepted(a).length === 2);
    t.equal(await curl('http://10.77.0.1/'), '10.77.0.1 GET /', 'regardless of the name of the service');
    const before = readdirSync('/proc/self/fd').length;

    const sockets = Array.from({ length: 300 }, () => connect(80, '10.77.0.1').on('error', () => undefined));
    await until('the circuits', () => a.router.describe().circuitEnds >= 300);
    const foreign = Array.from({ length: 200 }, (_none, n) =>
      connect(1 + n, '100.64.9.9').on('error', () => undefined),
    );
    await until('connections that are not intercepted to be reset', () => foreign.every(({ destroyed }) => destroyed));
    const flood = createSocket('udp4').bind(0, '127.0.0.1');
    await once(flood, 'listening');
    for (let n = 1; n <= 3_000; n++) flood.send('to nobody', n, '10.77.0.2');
    for (let n = 1; n <= 3_000; n++) flood.send('to no service', n, '100.64.9.9');
    for (let n = 0; n < 300; n++) flood.send(Buffer.alloc(n), 53, '127.0.0.1');
    t.match(await queryName('a.wild.example', 'A'), /^NOERROR 100/, 'names are resolved meanwhile');
    t.equal(await curl('http://10.77.0.1/'), '10.77.0.1 GET /', 'and services reached');

    for (const socket of sockets) socket.destroy();
    flood.close();
    await until('circuits and sessions to end', () => {
      const { circuitEnds, circuits, interception } = a.router.describe();
      return circuitEnds === 0 && circuits === 0 && (interception as { udpSessions: number }).udpSessions === 0;
    });
    await until('descriptors to be closed', () => readdirSync('/proc/self/fd').length <= before + 5);
    t.notOk(a.router.describe().timers.includes('idle UDP sessions'));
    web.close();
  });

  t.test('proxy.v1 services get ports on the loopback interface, and hosts dial through an HTTP proxy', async (t) => {
    const { overlay, web, a, b } = await network();
    await using _ = overlay;
    const connects: string[] = [];
    const proxy = createServer().on('connect', (request, client) => {
      connects.push(request.url ?? '');
      const through = connect(web.port, '127.0.0.1', () => {
        client.write('HTTP/1.1 200 fine\r\n\r\n');
        through.pipe(client).pipe(through);
      });
      // A router that stops resets its connections.
      client.on('error', () => through.destroy());
      through.on('error', () => client.destroy());
    });
    await once(proxy.listen(0, '127.0.0.1'), 'listening');
    proxy.unref();
    const at = `127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    const host = { protocol: 'tcp', address: 'far.example', port: 99, proxy: { type: 'http', address: at } };
    await overlay.addService('proxied', b.id, { host, configs: { 'proxy.v1': { port: 7_070, protocols: ['tcp'] } } });
    await overlay.ready();
    const ports = () => a.router.describe().proxies.map(({ port }) => port);
    await until('the port', () => ports().includes(7_070));
    t.equal(await curl('http://127.0.0.1:7070/'), '127.0.0.1:7070 GET /');
    t.same(connects, ['far.example:99']);
    const [config] = await overlay.management.configs.list({ filter: 'name = "proxied-proxy.v1"' });
    await overlay.management.configs.patch(config?.id ?? '', {
      data: { port: 7_071, protocols: ['tcp', 'udp'], binding: 'lo' },
    });
    await until('the other ports', () => ports().join() === '7071,7071');
    await t.rejects(curl('http://127.0.0.1:7070/'), /connect/i);
    t.equal(await curl('http://127.0.0.1:7071/'), '127.0.0.1:7071 GET /');
    proxy.close();
    web.close();
  });

  t.test('nothing remains after a stop, or after kill -9 and the next start', async (t) => {
    const { overlay, web, a, offer } = await network();
    await using _ = overlay;
    await offer('web', { addresses: ['10.77.0.1', 'web.example'] });
    await overlay.ready();
    await until('interception', () => intercepted(a).length === 1);
    t.match(traces(), /10\.77\.0\.1/);
    await a.router.close({ drain: 0 });
    t.equal(traces(), '', 'after a stop');

    const first = startDaemon(a.configFile);
    await until('interception', () => traces().includes('10.77.0.1'));
    first.kill('SIGKILL');
    await once(first, 'exit');
    t.match(traces(), /10\.77\.0\.1/, 'a killed router cannot clean up');

    const [config] = await overlay.management.configs.list({ filter: 'name = "web-intercept.v1"' });
    await overlay.management.configs.patch(config?.id ?? '', {
      data: { protocols: ['tcp'], addresses: ['10.77.0.9', 'web.example'], portRanges: [{ low: 80, high: 80 }] },
    });
    const second = startDaemon(a.configFile);
    await until('the new address', () => traces().includes('10.77.0.9'));
    t.notMatch(traces(), '10.77.0.1', 'the old address is removed');
    await until('traffic', () =>
      curl('http://10.77.0.9/').then(
        () => true,
        () => false,
      ),
    );
    second.kill('SIGTERM');
    await once(second, 'exit');
    t.equal(traces(), '', 'after SIGTERM');
    web.close();
  });

  t.test('what a killed router leaves is removed by a start with another configuration', async (t) => {
    await using overlay = await Overlay.start({ churnLimit: 0 });
    const hosts = join(overlay.directory, 'hosts');
    writeFileSync(hosts, '127.0.0.1\tlocalhost\n');
    const tunnel = { lanIf: 'lo', resolver: `file://${hosts}` };
    const { id, configFile } = await overlay.enrollRouter({ name: 'a', mode: 'tproxy', tunnel });
    const intercept = { protocols: ['tcp'], addresses: ['web.example'], portRanges: [{ low: 80, high: 80 }] };
    await overlay.addService('web', id, { configs: { 'intercept.v1': intercept } });
    const tproxy = readFileSync(configFile, 'utf8');
    const others = [
      ['without lanIf', tproxy.replace(',"lanIf":"lo"', '')],
      ['in mode host', tproxy.replace(asTproxy(tunnel), '"mode":"host"')],
      ['without a tunneler', tproxy.replace(/^listeners: .*$/m, '')],
    ] as const;
    for (const [what, other] of others) {
      writeFileSync(configFile, tproxy);
      const killed = startDaemon(configFile);
      await until('rules, a chain and routes', () => /table.*^:edgeweave.*100\.64/ims.test(traces()));
      await until('names', () => readFileSync(hosts, 'utf8').includes('web.example'));
      killed.kill('SIGKILL');
      await once(killed, 'exit');
      writeFileSync(configFile, other);
      const next = startDaemon(configFile);
      if (what === 'without lanIf') await until(what, () => !/^-A|^:/m.test(traces()));
      else await until(what, () => traces() === '');
      next.kill('SIGTERM');
      await once(next, 'exit');
      t.equal(readFileSync(hosts, 'utf8'), '127.0.0.1\tlocalhost\n');
      t.equal(traces(), '', what);
      t.same(
        readdirSync(overlay.directory).filter((name) => name.includes('.changes')),
        [],
      );
    }
  });

  t.test('two routers in one folder: each start removes only what its own router left', async (t) => {
    await using overlay = await Overlay.start({ churnLimit: 0 });
    const hosts = join(overlay.directory, 'hosts');
    writeFileSync(hosts, '');
    const tunnel = { resolver: `file://${hosts}` };
    const [a, b] = [
      await overlay.enrollRouter({ name: 'a', mode: 'tproxy', tunnel }),
      await overlay.enrollRouter({ name: 'b', mode: 'tproxy', tunnel }),
    ];
    const intercept = { protocols: ['tcp'], addresses: ['10.77.0.1'], portRanges: [{ low: 80, high: 80 }] };
    await overlay.addService('web', a.id, { configs: { 'intercept.v1': intercept } });
    const both = () => (traces().match(/^\s*(?:table|local) /gm) ?? []).length;
    const killed = startDaemon(a.configFile);
    await until('the rules of the first', () => /10\.77\.0\.1/.test(traces()));
    killed.kill('SIGKILL');
    await once(killed, 'exit');
    const left = traces();
    const other = startDaemon(b.configFile);
    await until('the rules of the second', () => both() > (left.match(/^\s*(?:table|local) /gm) ?? []).length);
    other.kill('SIGTERM');
    await once(other, 'exit');
    t.equal(traces(), left, 'the first one is untouched');
    writeFileSync(a.configFile, readFileSync(a.configFile, 'utf8').replace(asTproxy(tunnel), '"mode":"host"'));
    const next = startDaemon(a.configFile);
    await until('the removal', () => traces() === '');
    next.kill('SIGTERM');
    await once(next, 'exit');
    t.same(
      readdirSync(overlay.directory).filter((name) => name.includes('.changes')),
      [],
    );
  });

  t.test('rules that a killed router inserted with an external diverter are deleted by the next start', async (t) => {
    await using overlay = await Overlay.start({ churnLimit: 0 });
    const { id, configFile } = await overlay.enrollRouter({ name: 'a', mode: 'tproxy' });
    const intercept = { protocols: ['tcp'], addresses: ['10.77.0.1'], portRanges: [{ low: 80, high: 80 }] };
    await overlay.addService('web', id, { configs: { 'intercept.v1': intercept } });
    const [program, calls] = ['divert', 'calls'].map((name) => join(overlay.directory, name)) as [string, string];
    writeFileSync(program, `#!/bin/sh\necho "$@" >> ${calls}\n`, { mode: 0o755 });
    writeFileSync(calls, '');
    const inserted = (action: string) =>
      readFileSync(calls, 'utf8')
        .split('\n')
        .filter((line) => line.startsWith(action))
        .map((line) => line.slice(action.length).replace(/ -t .*/, ''))
        .sort();
    const text = readFileSync(configFile, 'utf8');
    writeFileSync(configFile, text.replace('"mode":"tproxy"', `"mode":"tproxy:${program}"`));
    const killed = startDaemon(configFile);
    await until('the rule', () => inserted('-I').some((line) => line.includes('-c 10.77.0.1 ')));
    killed.kill('SIGKILL');
    await once(killed, 'exit');
    t.same(inserted('-D'), []);
    writeFileSync(configFile, text.replace('"mode":"tproxy"', '"mode":"host"'));
    const next = startDaemon(configFile);
    await until('the deletion', () => inserted('-D').length === inserted('-I').length);
    t.same(inserted('-D'), inserted('-I'));
    next.kill('SIGTERM');
    await once(next, 'exit');
    t.equal(traces(), '');
    t.same(
      readdirSync(overlay.directory).filter((name) => name.includes('.changes')),
      [],
    );
  });

  t.test('without the permission the router does not start, and names what is missing', async (t) => {
    await using overlay = await Overlay.start();
    const { configFile } = await overlay.enrollRouter({ name: 'a', mode: 'tproxy' });
    const noRight = ['--bounding-set', '-net_admin', '--inh-caps', '-net_admin', '--'];
    const error = await execute('setpriv', [
      ...noRight,
      process.execPath,
      'entry/router-cli.ts',
      'run',
      configFile,
    ]).then(
      () => undefined,
      (failure: { code: number; stderr: string }) => failure,
    );
    t.equal(error?.code, 1);
    t.match(error?.stderr, /mode tproxy cannot be started.*CAP_NET_ADMIN/);
    t.notMatch(error?.stderr, /ExperimentalWarning/);
    t.equal(traces(), '');
  });
}

/** The options of the tunneler in a file. */
function asTproxy(tunnel: object): string {
  return `"mode":"tproxy",${JSON.stringify(tunnel).slice(1, -1)}`;
}
