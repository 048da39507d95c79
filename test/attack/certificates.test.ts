// Certificate chains of strangers: many certificates that sign each other, too long, not permitted, expired. All are
// rejected; without limits, the tests would exceed their time limit.

import { X509Certificate } from 'node:crypto';
import t from 'tap';
import { Agent, request } from 'undici';
import { verifyChain } from '#pki/certificate-chain.ts';
import { parsePemCertificates } from '#pki/certificates.ts';
import { context, der, sequence } from '#pki/der.ts';
import { Alpn } from '#wire/connection/tls-port.ts';
import { x509 } from '../../controller-sim/pki/x509.ts';
import { transfer } from '../../examples/two-routers/transfer.ts';
import { type Authority, issue, makeAuthority } from '../support/clients/certificates.ts';
import { hello, open, type Target, untilClosed } from '../support/hostile/attacker.ts';
import { expensiveChain, namesakeChain } from '../support/hostile/expensive-chain.ts';
import { Overlay } from '../support/networks/overlay.ts';

const DAY = 86_400_000;
/** Certificates in one chain that all sign each other: trying every order of ten of them took more than a minute. */
const CLIQUE = 10;
/** A search from each marker to the end of the text takes longer than the test may. */
const MARKERS = 300_000;
/** OpenSSL accepts 100 kB of certificates. */
const MANY = 150;

function parsed({ certificate }: Authority): X509Certificate {
  return new X509Certificate(certificate.toString('pem'));
}

async function keyOf({ keys }: Authority): Promise<string> {
  const der = await crypto.subtle.exportKey('pkcs8', keys.privateKey);
  return `-----BEGIN PRIVATE KEY-----\n${Buffer.from(der).toString('base64')}\n-----END PRIVATE KEY-----\n`;
}

/** Certificates with the same name and key: each of them signs all others. */
async function clique(count: number): Promise<Authority[]> {
  const first = await makeAuthority('clique');
  const others = Array.from({ length: count - 1 }, () => makeAuthority('clique', first, { keys: first.keys }));
  return [first, ...(await Promise.all(others))];
}

t.test('the search for a chain is limited for all inputs', async (t) => {
  const trusted = await makeAuthority('trusted');
  const members = (await clique(40)).map(parsed);
  for (const count of [2, CLIQUE, CLIQUE + 1, 40]) {
    const { ok } = verifyChain(members.slice(0, count), [parsed(trusted)]);
    t.notOk(ok, `${count} certificates that sign each other`);
  }
  t.match(verifyChain(members.slice(0, 11), []), { reason: /11 certificates were presented, more than 10/ });
  const roots = await Promise.all(Array.from({ length: 80 }, () => makeAuthority('clique')));
  t.match(verifyChain(members.slice(0, 1), roots.map(parsed)), { reason: /more than 16 signature checks/ });
  t.match(verifyChain([], roots.map(parsed)), { reason: /no certificate/ });
});

t.test("a stranger's keys check no signature", async (t) => {
  const trusted = parsed(await makeAuthority('trusted'));
  const attack = (name: string) =>
    parsePemCertificates(namesakeChain({ authorities: 9, curve: 'secp521r1', name }).cert.toString());
  const checks = t.capture(X509Certificate.prototype, 'verify', X509Certificate.prototype.verify);
  const keysOf = (presented: readonly X509Certificate[]) => {
    t.notOk(verifyChain(presented, [trusted]).ok);
    return checks().map(({ args: [key] }) => (key as typeof trusted.publicKey).asymmetricKeyDetails?.namedCurve);
  };
  t.same(keysOf(attack('namesake')), []);
  t.same(keysOf(attack('trusted')), Array<string>(10).fill('prime256v1'), 'each certificate once, by the trusted key');
});

t.test('keys that the reference does not read are rejected before a signature is checked', async (t) => {
  const trusted = parsed(await makeAuthority('trusted'));
  const checks = t.capture(X509Certificate.prototype, 'verify');
  const exponent = Buffer.alloc(8, 0xff);
  for (const [cert, reason] of [
    [
      namesakeChain({ authorities: 2, curve: 'sect571r1', name: 'trusted' }),
      /has an EC key of the curve 1\.3\.132\.0\.39/,
    ],
    [namesakeChain({ authorities: 2, curve: 'brainpoolP512r1', name: 'trusted' }), /has an EC key of the curve/],
    [expensiveChain({ authorities: 1, bits: 2_048, exponent }), /an exponent of 64 bits; at most 31 are supported/],
    [expensiveChain({ authorities: 1, bits: 16_384 }), /an RSA key of 16384 bits; at most 8192 are supported/],
  ] as const)
    t.match(verifyChain(parsePemCertificates(cert.cert.toString()), [trusted]), { ok: false, reason });
  t.same(checks(), []);
});

t.test('a chain may be presented in any order, and may be as long as its authorities permit', async (t) => {
  const root = await makeAuthority('root', undefined, { pathLength: 1 });
  const first = await makeAuthority('first', root, { pathLength: 0 });
  const second = await makeAuthority('second', first);
  const leaf = new X509Certificate((await issue(first, 'leaf')).pem);
  const deep = new X509Certificate((await issue(second, 'deep')).pem);
  t.ok(verifyChain([leaf, parsed(second), parsed(first)], [parsed(root)]).ok);
  t.match(verifyChain([deep, parsed(second), parsed(first)], [parsed(root)]), {
    reason: /first does not allow 1 authorities below it/,
  });
  t.ok(verifyChain([deep, parsed(second)], [parsed(second)]).ok, 'an intermediate authority may be the trust anchor');
  t.notOk(verifyChain([leaf, leaf, leaf], [parsed(root)]).ok);
  const notAnAuthority = new X509Certificate((await issue({ ...root, certificate: root.certificate }, 'first')).pem);
  t.notOk(verifyChain([leaf, notAnAuthority], [parsed(root)]).ok);
});

t.test('an authority with name constraints, or another critical extension that is unknown, is rejected', async (t) => {
  const root = await makeAuthority('root');
  const permitted = sequence(context(0, sequence(der(0x86, Buffer.from('other.example')))));
  const chainOf = async (extension: x509.Extension) => {
    const below = await makeAuthority('below', root, { extensions: [extension] });
    const leaf = await issue(below, 'leaf', { uris: ['spiffe://network.example/controller/ctrl1'] });
    return [new X509Certificate(leaf.pem), parsed(below)];
  };
  const constrained = await chainOf(new x509.Extension('2.5.29.30', true, permitted));
  t.match(verifyChain(constrained, [parsed(root)]), {
    reason: /the certificate of below has the critical extension 2\.5\.29\.30, which is not supported/,
  });
  const unknown = (isCritical: boolean) => chainOf(new x509.Extension('1.3.6.1.4.1.99999.1', isCritical, permitted));
  t.match(verifyChain(await unknown(true), [parsed(root)]), {
    reason: /critical extension 1\.3\.6\.1\.4\.1\.99999\.1/,
  });
  t.ok(verifyChain(await unknown(false), [parsed(root)]).ok);
  const usage = await chainOf(new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign, true));
  t.ok(verifyChain(usage, [parsed(root)]).ok);
});

t.test('dates are checked, and an expired authority does not hide its successor', async (t) => {
  const now = Date.now();
  const old = await makeAuthority('renewed', undefined, { to: now - DAY });
  const renewed = await makeAuthority('renewed', undefined, { keys: old.keys });
  const leaf = new X509Certificate((await issue(renewed, 'leaf')).pem);
  t.match(verifyChain([leaf], [parsed(old)], { now }), { reason: /renewed expired on/ });
  t.ok(verifyChain([leaf], [parsed(old), parsed(renewed)], { now }).ok);
  t.ok(verifyChain([leaf], [parsed(old)]).ok, 'without a date, expiry is not checked');
  const expired = new X509Certificate((await issue(renewed, 'leaf', { to: now - 1_000 })).pem);
  t.match(verifyChain([expired], [parsed(renewed)], { now }), { reason: /leaf expired on/ });
  t.ok(verifyChain([expired], [parsed(renewed)], { now, allowExpired: true }).ok);
});

t.test('PEM begin markers without end markers are parsed in linear time', async (t) => {
  t.same(parsePemCertificates('-----BEGIN CERTIFICATE-----\n'.repeat(MARKERS)), []);
});

t.test('every listener rejects a clique of certificates', async (t) => {
  await using overlay = await Overlay.start({ churnLimit: 0 });
  const a = await overlay.addRouter({ name: 'a', mode: 'proxy' });
  const b = await overlay.addRouter({ name: 'b', mode: 'host' });
  await overlay.addService('echo', b.id);
  await overlay.ready();
  const linkPort = a.linkPort;
  const controlPort = Number(overlay.simulator.controlAddress.split(':').at(-1));
  const targets: Record<string, Target> = {
    link: { port: linkPort, alpn: Alpn.Link },
    control: { port: controlPort, alpn: Alpn.Control },
  };
  for (const count of [CLIQUE, MANY]) {
    const members = await clique(count);
    const key = await keyOf(members[0] as Authority);
    const cert = members.map(({ certificate }) => certificate.toString('pem')).join('\n');
    for (const [name, target] of Object.entries(targets)) {
      const socket = await open(target, { cert, key });
      const answer = untilClosed(socket);
      socket.write(hello(a.id, [[1, 'x']]));
      t.equal((await answer).length, 0, `${name} rejects ${count} certificates`);
    }
    const agent = new Agent({ connect: { cert, key, rejectUnauthorized: false } });
    for (const path of ['/edge/client/v1/authenticate?method=cert', '/edge/client/v1/enroll?method=ca']) {
      const { statusCode, body } = await request(new URL(path, overlay.simulator.clientUrl), {
        method: 'POST',
        body: '{}',
        headers: { 'content-type': 'application/json' },
        dispatcher: agent,
      });
      await body.dump();
      t.ok(statusCode >= 400 && statusCode < 500, `${path}: ${statusCode}`);
    }
    await agent.close();
  }
  t.equal((await transfer(a.proxyPort, 100_000)).bytes, 100_000, 'traffic flows');
});
