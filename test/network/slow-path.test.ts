// Dials over a path that loses the first packet of every connection, to names with addresses of both families.

import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SystemClock } from '#lib/time/clock.ts';
import { connectThroughProxy, dialTls } from '#wire/connection/dial.ts';
import { inOwnNamespace, run } from '../support/networks/network-namespace.ts';

if (await inOwnNamespace(import.meta.filename, ['ip', 'nft', 'mount'])) await tests();

async function tests(): Promise<void> {
  const { default: t } = await import('tap');
  const folder = mkdtempSync(join(tmpdir(), 'edgeweave-test-'));
  t.after(() => rmSync(folder, { recursive: true }));

  t.test('a lost first packet does not make a name with an IPv6 address unreachable', async (t) => {
    run('ip', 'link', 'set', 'lo', 'up');
    const hosts = join(folder, 'hosts');
    writeFileSync(hosts, '127.0.0.1 dual.test\n2001:db8::1 dual.test\n');
    run('mount', '--bind', hosts, '/etc/hosts');
    const server = createServer((socket) => socket.end('HTTP/1.1 200 OK\r\n\r\n')).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const loss = join(folder, 'loss.nft');
    const rule = `tcp dport ${port} tcp flags syn numgen inc mod 2 == 0 drop`;
    writeFileSync(loss, `table inet loss {\n chain in {\n type filter hook input priority 0\n ${rule}\n }\n}\n`);
    run('nft', '--file', loss);

    const address = { type: 'tls', host: 'dual.test', port } as const;
    const socket = await connectThroughProxy({ address }, { host: 'dual.test', port }, AbortSignal.timeout(10_000));
    t.equal(socket.remoteAddress, '127.0.0.1');
    socket.destroy();
    const dialed = dialTls({ address, context: {}, timeout: 10_000, clock: new SystemClock() });
    await t.rejects(dialed, /wrong version number|packet length too long/i, 'the server answers, without TLS');
    server.close();
  });
}
