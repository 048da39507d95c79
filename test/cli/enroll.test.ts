// Failures of a router's enrollment: one clear line, exit code 1, and no damage to working files.

import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { decodeJwt, SignJWT } from 'jose';
import t from 'tap';
import { checkRouterConfig, type LoadOptions } from '../../agent/config/load.ts';
import { startSimulator } from '../../controller-sim/assembly/simulator.ts';
import { createRouter, openManagement } from '../support/clients/management.ts';
import { linkListener } from '../support/config/link-config.ts';
import { TestProxy } from '../support/hostile/http-proxy.ts';
import { CLOSED_PORT } from '../support/networks/fixed-ports.ts';
import { Overlay } from '../support/networks/overlay.ts';
import { runProgram } from '../support/programs/run.ts';
import { until } from '../support/until.ts';

const FILES = ['cert', 'server.cert', 'key', 'ca'];

async function token(overlay: Overlay, name: string): Promise<{ id: string; jwt: string }> {
  const { id, enrollmentJwt } = await createRouter(overlay.management, { name, isTunnelerEnabled: true });
  return { id, jwt: enrollmentJwt };
}

async function enroll(overlay: Overlay, configFile: string, jwt: string, environment: Record<string, string> = {}) {
  const file = join(overlay.directory, 'token.jwt');
  writeFileSync(file, jwt);
  return runProgram(['entry/router-cli.ts', 'enroll', configFile, '--jwt', file], { env: environment });
}

function contents(overlay: Overlay, name: string): Record<string, string> {
  return Object.fromEntries(
    FILES.map((kind) => [kind, readFileSync(join(overlay.directory, `${name}.${kind}`), 'utf8')]),
  );
}

t.test('a router enrolls once; its files are private and match; the token is used', async (t) => {
  await using overlay = await Overlay.start();
  const { id, jwt } = await token(overlay, 'a');
  const configFile = overlay.writeConfig({ name: 'a' });
  const first = await enroll(overlay, configFile, `  ${jwt}\n`);
  t.equal(first.code, 0, first.stderr);
  t.match(first.stdout, new RegExp(`router ${id.replaceAll('.', '\\.')} is enrolled`));
  for (const kind of FILES) t.equal(statSync(join(overlay.directory, `a.${kind}`)).mode & 0o777, 0o600, kind);
  const before = contents(overlay, 'a');
  t.equal(createPrivateKey(before.key ?? '').asymmetricKeyType, 'ec', 'its handshakes cost less');
  const checked = await runProgram(['entry/router-cli.ts', 'config', 'check', configFile, '--format', 'json']);
  t.equal(checked.code, 0, checked.stdout);

  const second = await enroll(overlay, configFile, jwt);
  t.equal(second.code, 1);
  t.match(second.stderr, /not enrolled: .*(used|not valid|unknown)/i);
  t.equal(second.stderr.trim().split('\n').length, 1, 'one line');
  t.same(contents(overlay, 'a'), before, 'the working files are untouched');
});

t.test('without a configured endpoint, a router takes its controllers from the token', async (t) => {
  await using overlay = await Overlay.start();
  const { id, jwt } = await token(overlay, 'a');
  const configFile = overlay.writeConfig({ name: 'a' });
  const endpoints = join(overlay.directory, 'a.endpoints.yml');
  const text = readFileSync(configFile, 'utf8').replace(/ctrl: {.*}/, `ctrl: {endpointsFile: "${endpoints}"}`);
  writeFileSync(configFile, text);
  const check = (...more: string[]) => runProgram(['entry/router-cli.ts', 'config', 'check', configFile, ...more]);
  t.equal((await check('--before-enrollment')).code, 0);
  const early = await check();
  t.match([early.code, early.stdout], [1, /a\.endpoints\.yml has none\n +set endpoint.*, or enroll the router/]);
  t.equal((await enroll(overlay, configFile, jwt)).code, 0);
  t.match(readFileSync(endpoints, 'utf8'), `\nendpoints:\n  - ${overlay.simulator.controlAddress}\n`);
  const { code, stdout } = await check();
  t.match([code, stdout], [0, /info CFG-ENDPOINT ctrl: .* dials those in the endpoints file .*a\.endpoints\.yml\n/]);
  const router = await overlay.startRouter(configFile);
  await until('the router', async () => {
    const { isOnline } = await overlay.management.edgeRouters.get(id);
    return isOnline;
  });
  await router.close({ drain: 0 });
});

t.test('routers with their files in one folder keep their controllers apart', async (t) => {
  await using overlay = await Overlay.start();
  const [a, b] = [await overlay.enrollRouter({ name: 'a' }), await overlay.enrollRouter({ name: 'b' })];
  const names = readdirSync(overlay.directory).filter((name) => name.startsWith('endpoints'));
  t.same(names.sort(), ['endpoints.yml', `endpoints.${b.id}.yml`].sort());
  const read = (name: string) => readFileSync(join(overlay.directory, name), 'utf8');
  t.ok(read('endpoints.yml').startsWith(`# router ${a.id}\n`));
  const withoutEndpoint = readFileSync(b.configFile, 'utf8').replace(/^ctrl: .*$/m, 'ctrl: {}');
  const about = (text: string) =>
    checkRouterConfig(text, b.configFile)
      .findings.filter(({ code }) => code === 'CFG-ENDPOINT')
      .map(({ severity }) => severity);
  t.same(about(withoutEndpoint), ['info'], 'its own file names the controllers');
  rmSync(join(overlay.directory, `endpoints.${b.id}.yml`));
  t.same(about(withoutEndpoint), ['error'], 'the file of the other router is not used');
});

t.test('the token may come from standard input', async (t) => {
  await using overlay = await Overlay.start();
  const { jwt } = await token(overlay, 'a');
  const configFile = overlay.writeConfig({ name: 'a' });
  const fromInput = (input: string) =>
    runProgram(['entry/router-cli.ts', 'enroll', configFile, '--jwt', '-', '--key-alg', 'EC'], { input });
  const empty = await fromInput('');
  t.match([empty.code, empty.stderr], [1, /the token on standard input is empty; create a new token/]);
  const broken = await fromInput(jwt.slice(0, 200));
  t.match(
    [broken.code, broken.stderr],
    [1, /not enrolled: standard input: this is not a token: a JWT has three parts separated by dots/],
  );
  const enrolled = await fromInput(`${jwt}\n`);
  t.equal(enrolled.code, 0, enrolled.stderr);
});

t.test('a router enrolls through the proxy of the environment, unless NO_PROXY names the controller', async (t) => {
  using proxy = await TestProxy.start();
  proxy.credentials = 'me:se:cret';
  proxy.hosts.set('ctrl.test.invalid', '127.0.0.1');
  await using overlay = await Overlay.start();
  await using simulator = await startSimulator({ password: 'secret', advertise: ['ctrl.test.invalid'] });
  const { port } = simulator;
  const management = await openManagement(
    `https://127.0.0.1:${port}/edge/management/v1`,
    simulator.ca,
    'admin',
    'secret',
  );
  const { enrollmentJwt: jwt } = await createRouter(management, { name: 'a' });
  await management.close();
  const configFile = overlay.writeConfig({ name: 'a' });
  const through = (environment: Record<string, string>) => enroll(overlay, configFile, jwt, environment);
  const HTTPS_PROXY = `http://me:se%3Acret@${proxy.address}`;

  const direct = await through({ HTTPS_PROXY, NO_PROXY: 'test.invalid' });
  t.match(
    [direct.code, direct.stderr],
    [
      1,
      /controller at https:\/\/ctrl\.test\.invalid:\d+ cannot be reached.*ENOTFOUND.*; check the spelling of the host name/,
    ],
  );
  t.same(proxy.targets, []);
  const rejected = await through({ HTTPS_PROXY: `http://${proxy.address}` });
  t.match([rejected.code, rejected.stderr], [1, /the proxy 127.* rejected the connection.*407.*requires a username/]);
  const other = await through({ HTTPS_PROXY: 'socks5://me:se@proxy' });
  t.match([other.code, other.stderr], [1, /not enrolled: .*HTTPS_PROXY contains a proxy of type socks5; set it to/]);
  t.equal(other.stderr.trim().split('\n').length, 1, 'one line');

  const enrolled = await through({ HTTPS_PROXY: '', https_proxy: HTTPS_PROXY, NO_PROXY: 'other.invalid, 10.0.0.0/8' });
  t.equal(enrolled.code, 0, enrolled.stderr);
  t.same(
    proxy.targets,
    Array.from({ length: 4 }, () => `ctrl.test.invalid:${port}`),
    'each of the four connections',
  );
});

t.test('a host that the certificates would not cover stops the enrollment before the token is used', async (t) => {
  await using overlay = await Overlay.start();
  const { jwt } = await token(overlay, 'a');
  const link = (host: string) => ({ listeners: [linkListener(0, { advertise: `tls:${host}:6000` })] });
  const configFile = overlay.writeConfig({ name: 'a', link: link('edge.example') });
  const rejected = await enroll(overlay, configFile, jwt);
  t.equal(rejected.code, 1);
  t.match(
    rejected.stderr,
    /link\.listeners\[0\]\.advertise: csr\.sans does not contain edge\.example: routers and SDKs verify/,
  );
  const bindPoints = [{ interface: '127.0.0.1:8081', address: 'health.example:8081' }];
  overlay.writeConfig({
    name: 'a',
    link: link('localhost'),
    extra: { web: [{ name: 'w', bindPoints, apis: [{ binding: 'health-checks' }] }] },
  });
  const done = await enroll(overlay, configFile, jwt);
  t.equal(done.code, 0, `the token was not used: ${done.stderr}`);
  t.match(
    done.stderr,
    /warning CFG-ADVERTISE web\[0\].bindPoints\[0\].address: csr.sans does not contain health.example/,
  );

  const text = readFileSync(configFile, 'utf8').replace('"dns":["localhost"]', '"dns":["other"]');
  const { ok, findings } = checkRouterConfig(text, configFile);
  t.ok(ok, 'the existing certificates have the name');
  t.match(
    findings.find(({ path }) => path === 'link.listeners[0].advertise'),
    { severity: 'warning', message: /the renewed certificates will lack it/, hint: /csr\.sans\.dns/ },
  );
});

t.test('an unwritable file is reported before the token is used, so that the token remains valid', async (t) => {
  await using overlay = await Overlay.start();
  const { jwt } = await token(overlay, 'a');
  const configFile = overlay.writeConfig({ name: 'a' });
  const good = readFileSync(configFile, 'utf8');
  mkdirSync(join(overlay.directory, 'folder'));
  const file = (name: string) => join(overlay.directory, name);
  const before = readdirSync(overlay.directory);
  const table: [string, RegExp, string, RegExp][] = [
    ['a missing folder', /[^"]*a\.cert/, file('nowhere/a.cert'), /nowhere\/a\.cert.*does not exist/],
    ['the same for the server certificate', /[^"]*a\.server\.cert/, file('nowhere/b.cert'), /nowhere\/b\.cert/],
    ['the same for the key', /[^"]*a\.key/, file('nowhere/a.key'), /nowhere\/a\.key.*does not exist/],
    ['a folder instead of a file', /[^"]*a\.ca(?="})/, file('folder'), /folder is a folder; name a file/],
    ['a folder that rejects files', /[^"]*a\.ca(?="})/, '/proc/a.ca', /\/proc\/a\.ca cannot be written/],
    ['one file for two purposes', /[^"]*a\.ca(?="})/, file('a.cert'), /a\.cert is used for two purposes/],
    ['a data file that is a folder', /edge: {}/, `edge: {db: ${file('folder')}}`, /folder is a folder/],
    [
      'an endpoints file below a file',
      /ctrl: {/,
      `ctrl: {endpointsFile: ${file('a.yml')}/endpoints.yml, `,
      /endpoints\.yml/,
    ],
  ];
  for (const [name, found, replacement, reason] of table) {
    writeFileSync(configFile, good.replace(found, replacement));
    const { code, stdout, stderr } = await enroll(overlay, configFile, jwt);
    t.equal(code, 1, `${name}: ${stdout}`);
    t.match(stderr, reason, name);
    t.equal(stderr.trim().split('\n').length, 1, `${name}: one line: ${stderr}`);
  }
  writeFileSync(configFile, good);
  t.same(
    readdirSync(overlay.directory).filter((name) => !before.includes(name)),
    ['token.jwt'],
    'no files remain',
  );
  const { code, stderr } = await enroll(overlay, configFile, jwt);
  t.equal(code, 0, `the token was not used: ${stderr}`);
});

t.test('weak keys are rejected with file and remedy, before the token is used and before a start', async (t) => {
  await using overlay = await Overlay.start();
  const { jwt } = await token(overlay, 'a');
  const configFile = overlay.writeConfig({ name: 'a' });
  const [key, serverKey] = ['a.key', 'a.server.key'].map((name) => join(overlay.directory, name)) as [string, string];
  const good = readFileSync(configFile, 'utf8');
  const pem = ({ privateKey }: { privateKey: KeyObject }) =>
    privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  const remedy = 'remove the file to create a new key';
  const cases: [string, string][] = [
    [pem(generateKeyPairSync('rsa', { modulusLength: 1024 })), 'an RSA key of 1024 bits; at least 2048 are required'],
    [
      pem(generateKeyPairSync('ec', { namedCurve: 'secp256k1' })),
      'an EC key of the curve secp256k1; P-256, P-384 and P-521 are supported',
    ],
    [pem(generateKeyPairSync('ed25519')), 'a key of the type ed25519; RSA and EC are supported'],
  ];
  for (const [text, weakness] of cases) {
    writeFileSync(key, text);
    const { code, stderr } = await enroll(overlay, configFile, jwt);
    t.equal(code, 1, weakness);
    t.ok(stderr.includes(`${key} contains ${weakness}; ${remedy}`), stderr);
    t.equal(readFileSync(key, 'utf8'), text, 'the file is unchanged');
  }
  rmSync(key);
  const [[weak = ''] = []] = cases;
  writeFileSync(serverKey, weak);
  writeFileSync(configFile, good.replace('identity: {', `identity: {server_key: ${serverKey}, `));
  t.match((await enroll(overlay, configFile, jwt)).stderr, `${serverKey} contains an RSA key of 1024 bits`);
  writeFileSync(configFile, good);
  const { code, stderr } = await enroll(overlay, configFile, jwt);
  t.equal(code, 0, `the token was not used: ${stderr}`);

  writeFileSync(key, weak);
  t.match(
    checkRouterConfig(good, configFile).findings.find(({ path }) => path === 'identity.key'),
    { severity: 'error', message: /^it contains an RSA key of 1024 bits/, hint: /enroll the router again$/ },
  );
});

t.test('unusable tokens are rejected with the reason', async (t) => {
  await using overlay = await Overlay.start();
  const { jwt } = await token(overlay, 'a');
  const configFile = overlay.writeConfig({ name: 'a' });
  const claims = decodeJwt(jwt);
  const [head = '', body = '', signature = ''] = jwt.split('.');
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const forged = await new SignJWT(claims).setProtectedHeader({ alg: 'ES256' }).sign(privateKey);
  const table: [string, string, RegExp][] = [
    ['tampered', `${head}.${encode({ ...claims, sub: 'somebody-else' })}.${signature}`, /not signed by/],
    ['with a foreign signature', forged, /not signed by/],
    ['not a token', 'not a token at all', /token/i],
    ['empty', '', /token|empty/i],
    ['without an issuer', `${head}.${encode({ ...claims, iss: undefined })}.${signature}`, /iss/i],
    [
      'from an unreachable controller',
      `${head}.${encode({ ...claims, iss: `https://127.0.0.1:${CLOSED_PORT}` })}.${signature}`,
      /ECONNREFUSED.*; check the address and the port: nothing listens there/,
    ],
    ['of another kind', `${head}.${encode({ ...claims, em: 'ott' })}.${signature}`, /erott|kind|method|router/i],
    ['without signature algorithm', `${encode({ alg: 'none' })}.${body}.`, /not signed by/],
  ];
  for (const [name, text, reason] of table) {
    const { code, stderr } = await enroll(overlay, configFile, text);
    t.equal(code, 1, name);
    t.match(stderr, reason, name);
    t.equal(stderr.trim().split('\n').length, 1, `${name}: one line: ${stderr}`);
    t.notMatch(stderr, /\bat .*\.ts:\d+/, `${name}: no stack`);
  }
});

t.test('the router and the controller report an expired token', async (t) => {
  await using overlay = await Overlay.start({ enrollmentLifetime: 1 });
  const { jwt } = await token(overlay, 'a');
  const configFile = overlay.writeConfig({ name: 'a' });
  await new Promise((resolve) => setTimeout(resolve, 1_100));
  const { code, stderr } = await enroll(overlay, configFile, jwt);
  t.equal(code, 1);
  const time = String.raw`\d{4}-\d\d-\d\dT[\d:.]+Z`;
  const cause = new RegExp(
    `the token expired at ${time}\\. The clock of this machine says ${time}: if it is right, create`,
  );
  t.match(stderr, cause);
});

t.test('unsuitable certificates are found: wrong names, wrong keys, wrong times', async (t) => {
  await using overlay = await Overlay.start();
  const { configFile } = await overlay.enrollRouter({ name: 'a', mode: 'host' });
  const other = await overlay.enrollRouter({ name: 'b', mode: 'host' });
  const text = readFileSync(configFile, 'utf8');
  const codes = (changed: string, now?: number) =>
    checkRouterConfig(changed, configFile, now === undefined ? {} : { now }).findings.map(
      ({ code, severity }) => `${severity} ${code}`,
    );
  t.same(
    codes(text).filter((each) => each.startsWith('error')),
    [],
  );
  const advertised = text.replace('"advertise":"tls:127.0.0.1', '"advertise":"tls:router.elsewhere');
  const requested = advertised.replace('["localhost"]', '["localhost","router.elsewhere"]');
  const advertisement = (changed: string, options: LoadOptions) =>
    checkRouterConfig(changed, configFile, options).findings.find(({ code }) => code === 'CFG-ADVERTISE');
  const isInvalid = { severity: 'error', message: 'no certificate of this router is valid for router.elsewhere' };
  const both = /; add the host to csr\.sans, and start the router with --extend, which renews the certificates$/;
  t.match(advertisement(advertised, {}), { ...isInvalid, hint: both });
  t.match(advertisement(advertised, { extend: true }), { ...isInvalid, hint: both }, 'a renewal would not help');
  t.match(advertisement(requested, {}), { ...isInvalid, hint: /; start the router with --extend, which renews/ });
  t.match(advertisement(requested, { extend: true }), {
    severity: 'warning',
    message: /router\.elsewhere until it is renewed$/,
  });
  const expired = { extend: true, now: Date.now() + 400 * 86_400_000 };
  t.match(advertisement(requested, expired), { ...isInvalid, hint: /; enroll again$/ }, 'it cannot be renewed');
  t.ok(codes(text.replace('a.key', 'b.key')).includes('error CFG-IDENTITY'), 'a key that does not match');
  t.match(
    checkRouterConfig(text.replace('a.key', 'b.key'), configFile).findings.filter(
      ({ code }) => code === 'CFG-IDENTITY',
    ),
    [{ message: /does not belong to identity\.key$/ }, { message: /does not belong to identity\.key$/ }],
    'without server_key, one key for both certificates',
  );
  t.ok(codes(text.replace('a.key', 'a.ca')).includes('error CFG-IDENTITY'), 'an invalid key');
  t.ok(codes(text.replace('a.cert', 'nowhere.cert')).includes('error CFG-NOT-ENROLLED'), 'a missing certificate');
  const day = 86_400_000;
  t.ok(
    codes(text, Date.now() + 400 * day).some((each) => each.endsWith('CFG-CERTIFICATE')),
    'an expired one',
  );
  t.ok(
    codes(text, Date.now() + 362 * day).some((each) => /^(warning|info) CFG-CERTIFICATE/.test(each)),
    'one that expires soon',
  );
  const early = checkRouterConfig(text, configFile, { now: Date.now() - 2 * day });
  t.match(
    early.findings.find(({ path }) => path === 'identity.cert'),
    {
      severity: 'warning',
      message: /is not valid before/,
      hint: /^correct the clock of this machine, which says \d{4}-/,
    },
  );
  t.not(other.id, '');
});

t.test('a missing token file, and a configuration without an identity section', async (t) => {
  await using overlay = await Overlay.start();
  const configFile = overlay.writeConfig({ name: 'a' });
  const missing = await runProgram(['entry/router-cli.ts', 'enroll', configFile, '--jwt', '/nowhere/token']);
  t.equal(missing.code, 1);
  t.match(missing.stderr, /^the token file cannot be read: \/nowhere\/token does not exist\n$/);
  const folder = await runProgram(['entry/router-cli.ts', 'enroll', configFile, '--jwt', overlay.directory]);
  t.match(folder.stderr, /^the token file cannot be read: .* is a folder; name a file\n$/);
  t.match(
    (await enroll(overlay, configFile, ' \n')).stderr,
    /^the token file .*token\.jwt is empty; create a new token at the controller\n$/,
  );
  const { jwt } = await token(overlay, 'b');
  const bare = join(overlay.directory, 'bare.yml');
  writeFileSync(bare, readFileSync(configFile, 'utf8').replace(/^csr:.*$/m, ''));
  const { code, stderr } = await enroll(overlay, bare, jwt);
  t.equal(code, 1);
  t.match(stderr, /csr/);
});
