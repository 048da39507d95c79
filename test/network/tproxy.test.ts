// Mode tproxy in its own network namespace, with programs of the system: curl reaches services by name and by
// address, from this machine and from one behind it.

import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { sendFromPortZero } from '../support/hostile/raw-datagram.ts';
import { inOwnNamespace, LanClient, run } from '../support/networks/network-namespace.ts';
import {
  curl,
  execute,
  hostAt,
  intercepted,
  network,
  PROGRAMS,
  prepareNamespace,
  queryName,
  traces,
} from '../support/networks/tproxy.ts';
import { until } from '../support/until.ts';

/** A DNS query for the address of `udp.example`. */
const QUERY = Buffer.from('12340100000100000000000003756470076578616d706c650000010001', 'hex');

/** The answer of a name server that knows one address: the header, the question and one record. */
function answerTo(query: Buffer): Buffer {
  const end = query.indexOf(0, 12) + 5;
  const [header, question] = [Buffer.from(query.subarray(0, 12)), query.subarray(12, end)];
  header.writeUInt16BE(0x8180, 2);
  header.fill(0, 4).writeUInt16BE(1, 4);
  header.writeUInt16BE(1, 6);
  return Buffer.concat([header, question, Buffer.from('c00c000100010000003c0004c0000207', 'hex')]);
}

if (await inOwnNamespace(import.meta.filename, PROGRAMS)) await tests();

async function tests(): Promise<void> {
  const { default: t } = await import('tap');
  t.after(prepareNamespace());

  t.test('curl reaches services by name, wildcard, address and range, and the name server has the names', async (t) => {
    const { overlay, web, a, offer } = await network();
    await using _ = overlay;
    await offer('named', { addresses: ['web.example'] });
    await offer('wild', { addresses: ['*.wild.example'], portRanges: [{ low: 8_000, high: 8_010 }] });
    await offer('addressed', { addresses: ['10.77.0.1', '10.78.0.0/16'], portRanges: [{ low: 81, high: 85 }] });
    await offer('plain', { addresses: ['plain.example'], sourceIp: '$src_ip' }, { encrypted: false });
    await overlay.ready();
    await until('interception', () => intercepted(a).length === 4);

    t.equal(await curl('http://web.example/x'), 'web.example GET /x');
    t.equal(await curl('http://WEB.example/x'), 'WEB.example GET /x');
    t.equal(await curl('http://deep.in.wild.example:8005/'), 'deep.in.wild.example:8005 GET /');
    t.equal(await curl('http://10.77.0.1:81/'), '10.77.0.1:81 GET /');
    t.equal(await curl('http://10.78.200.9:85/'), '10.78.200.9:85 GET /');
    t.equal(await curl('http://plain.example/'), 'plain.example GET /');
    t.equal(web.sources.at(-1), '100.64.0.1', 'the host dials from the source in the template');
    t.equal(await curl('http://web.example/', '--data-binary', 'x'.repeat(100_000)), 'web.example POST /');

    await t.rejects(curl('http://web.example:81/'), /reset|connect/i, 'another port');
    await t.rejects(curl('http://10.78.200.9:86/'), /connect/i);

    const first = await queryName('web.example', 'A');
    t.match(first, /^NOERROR 100\.64\.0\.\d+$/);
    t.equal(await queryName('WEB.EXAMPLE', 'A'), first, 'names are case-insensitive');
    t.equal(await queryName('web.example', 'AAAA'), 'NOERROR');
    t.match(await queryName('other.wild.example', 'A'), /^NOERROR 100\.64\.0\.\d+$/);
    t.equal(await queryName('wild.example', 'A'), 'REFUSED', 'a wildcard is not the domain itself');
    t.equal(await queryName('web.example', 'TXT'), 'REFUSED');
    t.equal(await queryName('unknown.example', 'A'), 'REFUSED');
    await until('all circuits to end', () => a.router.describe().circuitEnds === 0);
    web.close();
  });

  t.test('datagrams are intercepted, and answers come from the address that the client sent them to', async (t) => {
    const { overlay, web, a, offer } = await network({ udpIdleTimeout: '5s', udpCheckInterval: '1s' });
    await using _ = overlay;
    web.close();
    const echo = createSocket('udp4').bind(0, '127.0.0.1');
    await once(echo, 'listening');
    echo.on('message', (data, { port, address }) => echo.send(data, port, address));
    const host = { protocol: 'udp', address: '127.0.0.1', port: echo.address().port };
    const intercept = { protocols: ['udp'], portRanges: [{ low: 7_000, high: 7_010 }] };
    await offer('udp', { ...intercept, addresses: ['10.77.0.1', 'udp.example'] }, { host });
    await overlay.ready();
    await until('interception', () => intercepted(a).length === 1);

    const client = createSocket('udp4');
    const received: string[] = [];
    client.on('message', (data, { address, port }) => received.push(`${data.length} from ${address}:${port}`));
    client.send('hello', 7_001, '10.77.0.1');
    await until('an answer', () => received.includes('5 from 10.77.0.1:7001'));
    for (const size of [1_000, 9_000, 60_000]) client.send(Buffer.alloc(size), 7_001, '10.77.0.1');
    await until('large answers', () => received.includes('60000 from 10.77.0.1:7001'));
    client.send('hello!', 7_002, '10.77.0.1');
    await until('another session', () => received.includes('6 from 10.77.0.1:7002'));
    const [address] = /100\.64\.\S+/.exec(await queryName('udp.example', 'A')) ?? [''];
    client.send('by name', 7_010, address);
    await until('an answer by name', () => received.includes(`7 from ${address}:7010`));
    client.send('not intercepted', 7_011, address);
    sendFromPortZero(Buffer.from('no answer is possible'), 7_001, '10.77.0.1');
    sendFromPortZero(QUERY, 53, '127.0.0.1');
    client.send('still intercepted', 7_001, '10.77.0.1');
    await until('an answer after them', () => received.includes('17 from 10.77.0.1:7001'));
    t.match(await queryName('udp.example', 'A'), /^NOERROR 100/);
    t.equal(a.router.describe().interception?.udpSessions, 3);
    await until('idle sessions to end', () => a.router.describe().circuitEnds === 0);
    t.equal(a.router.describe().interception?.udpSessions, 0);
    client.close();
    echo.close();
  });

  t.test(
    'the older client configuration, another range of addresses, upstream servers, and intercepts of everything',
    async (t) => {
      const upstream = createSocket('udp4').bind(0, '127.0.0.2');
      await once(upstream, 'listening');
      upstream.on('message', (query, { port, address }) => upstream.send(answerTo(query), port, address));
      const dnsUpstream = `udp://127.0.0.2:${upstream.address().port}`;
      const { overlay, web, a, b } = await network({ dnsSvcIpRange: '100.72.0.1/24', dnsUpstream });
      await using _ = overlay;
      const older = { 'ziti-tunneler-client.v1': { hostname: 'Old.Example', port: 8_080 } };
      await overlay.addService('older', b.id, { port: web.port, configs: older });
      await overlay.ready();
      await until('interception', () => intercepted(a).length === 1);
      t.equal(await curl('http://old.example:8080/x'), 'old.example:8080 GET /x');
      t.match(await queryName('old.example', 'A'), /^NOERROR 100\.72\.0\.\d+$/);
      const elsewhere = () => queryName('elsewhere.example', 'A');
      t.equal(await elsewhere(), 'NOERROR 192.0.2.7', 'the upstream server answers for other names');
      const addresses = ['0.0.0.0/1', '128.0.0.0/1'];
      const everything = { protocols: ['tcp', 'udp'], addresses, portRanges: [{ low: 1, high: 65_535 }] };
      await overlay.addService('internet', b.id, { port: web.port, configs: { 'intercept.v1': everything } });
      await until('interception of everything', () => intercepted(a).length === 2);
      t.equal(await curl('http://203.0.113.9:81/x'), '203.0.113.9:81 GET /x');
      t.equal(await elsewhere(), 'NOERROR 192.0.2.7', 'name servers and loopback are not intercepted');
      t.notMatch(traces(), /local (?:0\.0\.0\.0\/1|127\.)/);
      upstream.close();
      web.close();
    },
  );

  t.test('intercepts follow the network: services, configurations, policies, the identity', async (t) => {
    const { overlay, web, a, offer } = await network();
    await using _ = overlay;
    const { management } = overlay;
    await offer('web', { addresses: ['web.example', '10.77.0.1', '*.web.example'] });
    await overlay.ready();
    await until('interception', () => intercepted(a).length === 1);
    t.equal(await curl('http://10.77.0.1/'), '10.77.0.1 GET /');
    t.match(await queryName('a.web.example', 'A'), /^NOERROR 100/);

    const [config] = await management.configs.list({ filter: 'name = "web-intercept.v1"' });
    const data = {
      protocols: ['tcp'],
      addresses: ['10.77.0.2', 'new.example'],
      portRanges: [{ low: 8_080, high: 8_080 }],
    };
    await management.configs.patch(config?.id ?? '', { data });
    await until('the new address', () => traces().includes('10.77.0.2'));
    t.equal(await curl('http://new.example:8080/'), 'new.example:8080 GET /');
    t.equal(await curl('http://10.77.0.2:8080/'), '10.77.0.2:8080 GET /');
    await until('the old address to be gone', () => !traces().includes('10.77.0.1'));
    t.equal(await queryName('web.example', 'A'), 'REFUSED');
    t.equal(await queryName('a.web.example', 'A'), 'REFUSED');
    await t.rejects(curl('http://10.77.0.1/', '--connect-timeout', '1'), /connect|timed out/i);

    const [policy] = await management.servicePolicies.list({ filter: 'name = "web-dial"' });
    await management.servicePolicies.delete(policy?.id ?? '');
    await until('the service to be removed', () => intercepted(a).length === 0);
    t.equal(await queryName('new.example', 'A'), 'REFUSED');
    t.notMatch(traces(), '10.77');
    web.close();
  });

  t.test(
    'connections of a machine behind the router are intercepted, from allowed sources, despite a firewall that drops',
    async (t) => {
      const lan = await LanClient.open();
      const { overlay, web, a, offer } = await network({ lanIf: 'lan0', resolver: 'udp://0.0.0.0:53' });
      await using _ = overlay;
      await offer(
        'lan',
        { addresses: ['10.77.0.1'], sourceIp: '10.99.0.5:0' },
        { host: { ...hostAt(web.port), allowedSourceAddresses: ['10.99.0.0/24'] } },
      );
      await offer('others', { addresses: ['10.77.0.2'], allowedSourceAddresses: ['192.168.88.0/24', '100.64.0.0/10'] });
      await overlay.ready();
      await until('interception', () => intercepted(a).length === 2);
      run('iptables', '-w', '-A', 'INPUT', '-i', 'lan0', '-p', 'tcp', '-j', 'DROP');
      const [nsenter, ...inLan] = lan.prefix;
      const fetch = (url: string) =>
        execute(nsenter, [...inLan, 'curl', '--silent', '--show-error', '--max-time', '5', url]).then(
          ({ stdout }) => stdout,
        );
      t.equal(await fetch('http://10.77.0.1/'), '10.77.0.1 GET /');
      t.equal(web.sources.at(-1), '10.99.0.5', 'the service sees the source address in the intercept');
      await t.rejects(fetch('http://10.77.0.2/'), /reset|connect/i, 'not an allowed source');
      t.equal(await curl('http://10.77.0.2/'), '10.77.0.2 GET /', 'an allowed one');
      t.match(run('iptables-save'), /edgeweave/);
      for (const { router } of overlay.routers) await router.close({ drain: 0 });
      t.equal(traces(), '');
      run('iptables', '-w', '-F', 'INPUT');
      lan.close();
      web.close();
    },
  );
}
