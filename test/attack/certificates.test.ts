// Certificate chains of strangers: many certificates that sign each other, too long, not permitted, expired. All are
// rejected; without limits, the tests would exceed their time limit.

import { createPublicKey, generateKeyPairSync, type KeyObject, sign, X509Certificate } from 'node:crypto';
import t from 'tap';
import { Agent, request } from 'undici';
import { verifyChain } from '#pki/certificate-chain.ts';
import { parsePemCertificates } from '#pki/certificates.ts';
import { bitString, context, der, integer, oid, sequence, Tag, utf8 } from '#pki/der.ts';
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

/** A certificate of `root` with a signature of any kind. It permits to sign, whatever its name. */
function signedByHand(key: KeyObject, name: string, algorithm: Buffer, signature: (bytes: Buffer) => Buffer) {
  const nameOf = (text: string) => sequence(der(Tag.Set, sequence(oid('2.5.4.3'), utf8(text))));
  const at = (year: number) => der(Tag.UtcTime, Buffer.from(`${year}0101000000Z`));
  const constraints = sequence(oid('2.5.29.19'), der(Tag.OctetString, sequence(der(Tag.Boolean, Buffer.from([0xff])))));
  const body = sequence(
    context(0, integer(2)),
    integer(1),
    algorithm,
    nameOf('root'),
    sequence(at(24), at(49)),
    nameOf(name),
    createPublicKey(key).export({ type: 'spki', format: 'der' }),
    context(3, sequence(constraints)),
  );
  return new X509Certificate(sequence(body, algorithm, bitString(signature(body))));
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
    reason: /the chain above first does not allow the authority second below it/,
  });
  t.ok(verifyChain([deep, parsed(second)], [parsed(second)]).ok, 'an intermediate authority may be the trust anchor');
  t.notOk(verifyChain([leaf, leaf, leaf], [parsed(root)]).ok);
  const notAnAuthority = new X509Certificate((await issue({ ...root, certificate: root.certificate }, 'first')).pem);
  t.notOk(verifyChain([leaf, notAnAuthority], [parsed(root)]).ok);
});

t.test('a chain has at most ten certificates, with its leaf and its root', async (t) => {
  const root = await makeAuthority('root');
  const below = [await makeAuthority('authority 1', root)];
  while (below.length < 9) below.push(await makeAuthority(`authority ${below.length + 1}`, below.at(-1)));
  for (const [authorities, isAccepted] of [
    [8, true],
    [9, false],
  ] as const) {
    const above = below.slice(0, authorities);
    const leaf = new X509Certificate((await issue(above.at(-1) ?? root, 'leaf')).pem);
    const verdict = verifyChain([leaf, ...above.map(parsed)], [parsed(root)]);
    t.equal(verdict.ok, isAccepted, `${authorities + 2} certificates`);
    if (verdict.ok) t.equal(verdict.chain.length, authorities + 2);
  }
});

t.test('the longest chain that some certificate of an authority permits is found', async (t) => {
  const short = await makeAuthority('root', undefined, { pathLength: 0 });
  const long = await makeAuthority('root', undefined, { keys: short.keys });
  const [first, renewed] = await Promise.all([
    makeAuthority('first', long, { pathLength: 0 }),
    makeAuthority('other', long, { pathLength: 0 }).then(({ keys }) => makeAuthority('first', long, { keys })),
  ]);
  const second = await makeAuthority('second', renewed);
  const leaf = new X509Certificate((await issue(second, 'leaf')).pem);
  const again = await makeAuthority('first', long, { keys: renewed.keys, pathLength: 0 });
  for (const roots of [
    [short, long],
    [long, short],
  ].map((each) => each.map(parsed)))
    for (const others of [
      [second, again, renewed],
      [second, renewed, again],
      [first, again, renewed, second],
    ])
      t.ok(verifyChain([leaf, ...others.map(parsed)], roots).ok);
  t.notOk(verifyChain([leaf, parsed(second), parsed(again)], [parsed(long)]).ok);
  t.notOk(verifyChain([leaf, parsed(second), parsed(renewed)], [parsed(short)]).ok);
});

t.test('certificates of one authority and duplicates do not use up the signature checks', async (t) => {
  const root = await makeAuthority('root');
  const roots = [root];
  for (let count = 1; count < 20; count++) roots.push(await makeAuthority('root', undefined, { keys: root.keys }));
  const between = await makeAuthority('between', root);
  const leaf = new X509Certificate((await issue(between, 'leaf')).pem);
  const presented = [leaf, ...Array<X509Certificate>(8).fill(parsed(between))];
  t.ok(verifyChain(presented, roots.map(parsed)).ok);
});

t.test('signatures with SHA-1 or MD5, and keys that can be factored, do not count', async (t) => {
  const key = generateKeyPairSync('rsa', { modulusLength: 2_048 }).privateKey;
  for (const [number, digest, reason] of [
    [11, 'sha256', undefined],
    [5, 'sha1', /has a signature of the kind 1\.2\.840\.113549\.1\.1\.5, which is not supported/],
    [4, 'md5', /has a signature of the kind 1\.2\.840\.113549\.1\.1\.4, which is not supported/],
  ] as const) {
    const algorithm = sequence(oid(`1.2.840.113549.1.1.${number}`), der(Tag.Null));
    const root = signedByHand(key, 'root', algorithm, (bytes) => sign(digest, bytes, key));
    const leaf = signedByHand(key, 'leaf', algorithm, (bytes) => sign(digest, bytes, key));
    t.match(verifyChain([leaf], [root]), reason ? { ok: false, reason } : { ok: true }, digest);
  }
  for (const [parameters, reason] of [
    [sequence(context(0, sequence(oid('2.16.840.1.101.3.4.2.1')))), /lead to a trusted/],
    [sequence(), /has a signature of the kind 1\.2\.840\.113549\.1\.1\.10 without SHA-2/],
  ] as const) {
    const algorithm = sequence(oid('1.2.840.113549.1.1.10'), parameters);
    const root = signedByHand(key, 'root', algorithm, () => Buffer.alloc(256));
    const leaf = signedByHand(key, 'leaf', algorithm, () => Buffer.alloc(256));
    t.match(verifyChain([leaf], [root]), { ok: false, reason });
  }
  const short = generateKeyPairSync('rsa', { modulusLength: 768 }).privateKey;
  const algorithm = sequence(oid('1.2.840.113549.1.1.11'), der(Tag.Null));
  const root = signedByHand(short, 'root', algorithm, (bytes) => sign('sha256', bytes, short));
  const leaf = signedByHand(short, 'leaf', algorithm, (bytes) => sign('sha256', bytes, short));
  t.match(verifyChain([leaf], [root]), { reason: /has an RSA key of 768 bits; at least 1024 are required/ });
});

t.test('an authority with constraints, or another critical extension that is unknown, is rejected', async (t) => {
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
  for (const id of ['2.5.29.30', '2.5.29.36'])
    t.match(verifyChain(await chainOf(new x509.Extension(id, false, permitted)), [parsed(root)]), {
      reason: /the certificate of below has the extension 2\.5\.29\.3[06], which is not supported/,
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
