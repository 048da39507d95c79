// Certificates that change while they are in use.

import { execFileSync } from 'node:child_process';
import { KeyObject, webcrypto } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import t, { type Test } from 'tap';
import { silentLog } from '#lib/log/log.ts';
import { IoContext } from '#lib/net/io-context.ts';
import { SystemClock, VirtualClock } from '#lib/time/clock.ts';
import { commonName, peerCertificates } from '#pki/certificates.ts';
import { Alpn, TlsPort } from '#wire/connection/tls-port.ts';
import { x509 } from '../../controller-sim/pki/x509.ts';
import { issue, makeAuthority } from '../../test/support/clients/certificates.ts';
import { Identity } from './identity.ts';

const NO_PIPES = process.platform === 'win32' && 'named pipes of Unix';
/** Looks for an effect, ten milliseconds apart. */
const MAX_TRIES = 500;

function makeFolder(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'edgeweave-test-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function writePair(folder: string): Promise<string> {
  const { pem, key } = await issue(await makeAuthority('network'), 'router');
  writeFileSync(join(folder, 'tls.crt'), pem);
  writeFileSync(join(folder, 'tls.key'), key.export({ type: 'pkcs8', format: 'pem' }));
  return pem;
}

async function openIn(t: Test, folder: string) {
  const clock = new VirtualClock();
  const config = { cert: join(folder, 'tls.crt'), key: join(folder, 'tls.key'), alt_server_certs: [] };
  const identity = await Identity.open({ config, clock, log: silentLog, watch: true });
  t.teardown(() => identity.close());
  /** Lets the identity notice a change; returns whether it then has this certificate. */
  const loads = async (pem: string) => {
    for (let tries = 0; tries < MAX_TRIES && identity.certificate.toString().trim() !== pem.trim(); tries++) {
      await new Promise((resolve) => setTimeout(resolve, 10));
      if (clock.timers().length > 0) await clock.advance(1_000);
    }
    return identity.certificate.toString().trim() === pem.trim();
  };
  return { identity, clock, loads };
}

t.test('certificates in a volume of Kubernetes are loaded after each update', async (t) => {
  const folder = makeFolder(t);
  /** Replaces all files at once, as the kubelet does. */
  const update = async (version: string) => {
    mkdirSync(join(folder, version));
    const pem = await writePair(join(folder, version));
    symlinkSync(version, join(folder, '..data_tmp'));
    renameSync(join(folder, '..data_tmp'), join(folder, '..data'));
    return pem;
  };
  await update('..1');
  for (const name of ['tls.crt', 'tls.key']) symlinkSync(`..data/${name}`, join(folder, name));
  const { loads } = await openIn(t, folder);
  for (const version of ['..2', '..3']) {
    const pem = await update(version);
    t.ok(await loads(pem), version);
  }
});

t.test('certificates behind a link are loaded when they are replaced at its target', async (t) => {
  const [folder, target, next] = [makeFolder(t), makeFolder(t), makeFolder(t)];
  await writePair(target);
  for (const name of ['tls.crt', 'tls.key']) symlinkSync(join(target, name), join(folder, name));
  const { loads } = await openIn(t, folder);
  t.ok(await loads(await writePair(target)), 'the files at the target');
  const pem = await writePair(next);
  for (const name of ['tls.crt', 'tls.key']) {
    symlinkSync(join(next, name), join(folder, `${name}.new`));
    renameSync(join(folder, `${name}.new`), join(folder, name));
  }
  t.ok(await loads(pem), 'links to another target');
  t.ok(await loads(await writePair(next)), 'the files at the new target');
});

t.test('files in a folder that is replaced are loaded, and those after a while without the folder', async (t) => {
  const folder = join(makeFolder(t), 'identity');
  const replaceBy = async (version: string) => {
    mkdirSync(join(folder, '..', version));
    const pem = await writePair(join(folder, '..', version));
    renameSync(join(folder, '..', version), folder);
    return pem;
  };
  await replaceBy('1');
  const { clock, loads } = await openIn(t, folder);
  renameSync(folder, `${folder}.old`);
  const second = await replaceBy('2');
  t.ok(await loads(second), 'another folder in its place');
  renameSync(folder, `${folder}.older`);
  for (let tries = 0; tries < MAX_TRIES && !clock.timers().includes('identity reload'); tries++)
    await new Promise((resolve) => setTimeout(resolve, 10));
  await clock.advance(1_000);
  t.same(clock.timers(), ['identity watch'], 'the missing folder is tried again');
  await clock.advance(60_000);
  t.same(clock.timers(), ['identity watch'], 'and again');
  const third = await replaceBy('3');
  await clock.advance(60_000);
  t.ok(await loads(third), 'the files that it has when it can be watched again');
  t.ok(await loads(await writePair(folder)), 'later changes');
});

/** A certificate with its key, which is too short for TLS. */
async function weakPair(): Promise<{ pem: string; key: string }> {
  const algorithm = {
    name: 'RSASSA-PKCS1-v1_5',
    hash: 'SHA-256',
    modulusLength: 1_024,
    publicExponent: Buffer.of(1, 0, 1),
  };
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({ name: 'CN=router', keys });
  const key = KeyObject.from(keys.privateKey).export({ type: 'pkcs8', format: 'pem' }).toString();
  return { pem: certificate.toString('pem'), key };
}

t.test('files that TLS cannot use are rejected with their key, and the ones in use stay', async (t) => {
  const folder = makeFolder(t);
  const [cert, key, ca] = ['tls.crt', 'tls.key', 'ca.crt'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  const leaf = await writePair(folder);
  const above = (await makeAuthority('network')).certificate.toString('pem');
  const half = above.slice(0, above.length / 2);
  const weak = await weakPair();
  writeFileSync(cert, `${leaf}${above}\n`);
  writeFileSync(ca, `${above}\n`);
  const init = { config: { cert, key, ca, alt_server_certs: [] }, clock: new VirtualClock(), log: silentLog };
  const identity = await Identity.open(init);
  t.teardown(() => identity.close());
  const before = identity.clientContext();
  const changes: [files: Record<string, string>, problem: RegExp][] = [
    [{ [cert]: `${leaf}${half}` }, /^identity\.cert: the file ends within a certificate/],
    [{ [ca]: `${above}\n${half}` }, /^identity\.ca: the file ends within a certificate/],
    [{ [cert]: weak.pem, [key]: weak.key }, /^identity\.key: the file contains an RSA key of 1024 bits/],
    [{ [cert]: `${leaf}${weak.pem}\n` }, /^identity\.cert: TLS cannot use it: .*key too small/],
  ];
  for (const [files, message] of changes) {
    const used = Object.keys(files).map((path) => [path, readFileSync(path, 'utf8')] as const);
    for (const [path, content] of Object.entries(files)) writeFileSync(path, content);
    await t.rejects(identity.reload(), { message });
    await t.rejects(Identity.open(init), { message });
    t.same(identity.clientContext(), before);
    for (const [path, content] of used) writeFileSync(path, content);
  }
  await identity.reload();
});

t.test('a file of server certificates may begin with an authority, and contain several certificates', async (t) => {
  const folder = makeFolder(t);
  const [cert, key, server_cert] = ['tls.crt', 'tls.key', 'server.crt'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  const root = await makeAuthority('root');
  const [inside, outside] = [await makeAuthority('inside', root), await makeAuthority('outside', root)];
  const client = await issue(root, 'router');
  const first = await issue(inside, 'first', { hosts: ['first.example'], key: client.key });
  const second = await issue(outside, 'second', { hosts: ['second.example'], key: client.key });
  const foreign = await issue(outside, 'foreign', { hosts: ['foreign.example'] });
  const [rootPem, insidePem, outsidePem] = [root, inside, outside].map((each) => each.certificate.toString('pem'));
  writeFileSync(cert, client.pem);
  writeFileSync(key, client.key.export({ type: 'pkcs8', format: 'pem' }));
  writeFileSync(server_cert, [outsidePem, insidePem, foreign.pem, first.pem, first.pem, second.pem].join('\n'));
  const config = { cert, key, server_cert, alt_server_certs: [] };
  const identity = await Identity.open({ config, clock: new VirtualClock(), log: silentLog });
  t.teardown(() => identity.close());
  t.equal(commonName(identity.serverCertificate), 'first');

  const port = await TlsPort.open({
    io: new IoContext({ clock: new SystemClock() }),
    host: '127.0.0.1',
    port: 0,
    context: identity.serverContexts(),
    maxConnections: 10,
    maxHandshakes: 10,
    log: silentLog,
  });
  t.teardown(() => port.close());
  port.handle(Alpn.None, () => undefined);
  for (const servername of ['first.example', 'second.example']) {
    const socket = connect({ ...port.address, servername, ca: rootPem }); // verifies the name and the chain
    await once(socket, 'secureConnect');
    t.same(peerCertificates(socket).map(commonName), [
      servername.replace('.example', ''),
      servername.startsWith('first') ? 'inside' : 'outside',
    ]);
    socket.destroy();
  }
});

t.test('a running router keeps its certificate if the new one is for another router', async (t) => {
  const folder = makeFolder(t);
  await writePair(folder);
  const config = { cert: join(folder, 'tls.crt'), key: join(folder, 'tls.key'), alt_server_certs: [] };
  const init = { config, clock: new VirtualClock(), log: silentLog };
  const own = await Identity.open(init);
  const ofListener = await Identity.open({ ...init, key: 'web[0].identity' });
  t.teardown(() => (own.close(), ofListener.close()));
  const { pem, key } = await issue(await makeAuthority('network'), 'other');
  writeFileSync(config.cert, pem);
  writeFileSync(config.key, key.export({ type: 'pkcs8', format: 'pem' }));
  await t.rejects(own.reload(), {
    message: 'identity.cert: the certificate is for the router other, but this is router; restart to run as other',
  });
  t.equal(own.id, 'router');
  await ofListener.reload();
  t.equal(ofListener.id, 'other', 'the names of other certificates are free');
});

t.test('alternate certificates are loaded when another program renews them', async (t) => {
  const folder = makeFolder(t);
  await writePair(folder);
  const authority = await makeAuthority('public');
  const [server_cert, server_key] = [join(folder, 'public.crt'), join(folder, 'public.key')];
  const renew = async () => {
    const { pem, key } = await issue(authority, 'public', { ips: ['192.0.2.1'] });
    writeFileSync(server_key, key.export({ type: 'pkcs8', format: 'pem' }));
    writeFileSync(server_cert, pem);
  };
  await renew();
  const clock = new VirtualClock();
  const config = {
    cert: join(folder, 'tls.crt'),
    key: join(folder, 'tls.key'),
    alt_server_certs: [{ server_cert, server_key }],
  };
  const identity = await Identity.open({ config, clock, log: silentLog, watch: true });
  t.teardown(() => identity.close());
  let reloads = 0;
  identity.onChange(() => reloads++);
  await renew();
  for (let tries = 0; tries < MAX_TRIES && reloads === 0; tries++) {
    await new Promise((resolve) => setTimeout(resolve, 10));
    if (clock.timers().length > 0) await clock.advance(1_000);
  }
  t.ok(reloads > 0);
  t.equal(identity.serverContexts()[0].cert, readFileSync(server_cert, 'utf8'));
});

t.test('a reload that takes long does not replace what a later one has loaded', { skip: NO_PIPES }, async (t) => {
  const [folder, next] = [makeFolder(t), makeFolder(t)];
  await writePair(folder);
  const keyFile = join(folder, 'tls.key');
  const { identity } = await openIn(t, folder);
  const previousKey = readFileSync(keyFile);
  rmSync(keyFile);
  execFileSync('mkfifo', [keyFile]);
  const slow = identity.reload();
  const pipe = await open(keyFile, 'w'); // waits for the reader
  const pem = await writePair(next);
  for (const name of ['tls.crt', 'tls.key']) renameSync(join(next, name), join(folder, name));
  await identity.reload();
  t.equal(identity.certificate.toString(), pem);
  await pipe.writeFile(previousKey);
  await pipe.close();
  await slow;
  t.equal(identity.certificate.toString(), pem);
});
