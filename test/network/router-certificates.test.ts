// The certificates of a router over its life: separate keys, and renewals under difficult circumstances.

import { createPrivateKey, generateKeyPairSync, X509Certificate } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { create, toBinary } from '@bufbuild/protobuf';
import t from 'tap';
import { createLog, silentLog } from '#lib/log/log.ts';
import { SystemClock } from '#lib/time/clock.ts';
import { leafOf, sha1Fingerprint } from '#pki/certificates.ts';
import {
  EnrollmentCertsResponseSchema,
  EnrollmentExtendRouterRequestSchema,
  EnrollmentExtendRouterVerifyRequestSchema,
  ErrorSchema,
} from '#wire/gen/edge_control_pb.js';
import { EdgeControlType } from '#wire/gen/numbers.ts';
import { Message } from '#wire/message.ts';
import { loadRouterConfig } from '../../agent/config/load.ts';
import { enrollRouter } from '../../agent/enroll/enroll.ts';
import { Program } from '../../examples/two-routers/process.ts';
import { ApiClient, newRequest } from '../support/clients/api-client.ts';
import { createRouter } from '../support/clients/management.ts';
import { RouterPeer } from '../support/hostile/router-peer.ts';
import { Overlay } from '../support/networks/overlay.ts';
import { runProgram } from '../support/programs/run.ts';
import { until } from '../support/until.ts';

/** Enrolls router `a` with `server_key`; `value` is its value. */
async function enrollWith(overlay: Overlay, value: string) {
  const { id, enrollmentJwt: jwt } = await createRouter(overlay.management, { name: 'a', isTunnelerEnabled: true });
  const configFile = overlay.writeConfig({ name: 'a' });
  const text = readFileSync(configFile, 'utf8').replace('"ca":', () => `"server_key":${JSON.stringify(value)},"ca":`);
  writeFileSync(configFile, text);
  const { config } = loadRouterConfig(configFile, { beforeEnrollment: true });
  if (!config) throw new Error('the configuration is invalid');
  await enrollRouter({ config, jwt, keyAlgorithm: 'EC', clock: new SystemClock(), log: silentLog });
  return { id, configFile };
}

t.test('a separate key of the server certificate is used by enrollment and renewal', async (t) => {
  const pem = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' });
  const inline = `pem:${pem}`;
  const table: [string, (file: string) => string, string | undefined][] = [
    ['a missing file', (file) => file, undefined],
    ['an existing file', (file) => (writeFileSync(file, pem, { mode: 0o600 }), file), pem.toString()],
    ['inline text', () => inline, pem.toString()],
  ];
  for (const [name, value, expected] of table) {
    await using overlay = await Overlay.start({ churnLimit: 0 });
    const file = (kind: string) => join(overlay.directory, `a.${kind}`);
    const { id, configFile } = await enrollWith(overlay, value(file('server.key')));
    const key = createPrivateKey(expected ?? readFileSync(file('server.key'), 'utf8'));
    const certificate = () => new X509Certificate(readFileSync(file('server.cert')));
    t.ok(certificate().checkPrivateKey(key), `${name}: enrolled`);
    t.ok(new X509Certificate(readFileSync(file('cert'))).checkPrivateKey(createPrivateKey(readFileSync(file('key')))));
    if (existsSync(file('server.key'))) t.equal(statSync(file('server.key')).mode & 0o777, 0o600);

    const enrolled = certificate().fingerprint;
    const router = await overlay.startRouter(configFile, { extend: true });
    await until('renewed certificates', () => certificate().fingerprint !== enrolled);
    t.ok(certificate().checkPrivateKey(key), `${name}: renewed`);
    await router.close({ drain: 0 });
    const again = await overlay.startRouter(configFile);
    const isOnline = async () => (await overlay.management.edgeRouters.get(id)).isOnline;
    await until('the router to be online with them', isOnline);
    await again.close({ drain: 0 });
  }
});

t.test(
  'a router that starts with --extend renews its certificates for the name that it newly advertises',
  async (t) => {
    await using overlay = await Overlay.start({ churnLimit: 0 });
    const { id, configFile } = await overlay.enrollRouter({ name: 'a' });
    const text = readFileSync(configFile, 'utf8');
    const moved = text
      .replace('"bind":"tls:127.0.0.1:', '"bind":"tls:0.0.0.0:')
      .replace(/"advertise":"tls:[^:]*/, '"advertise":"tls:new.example');
    writeFileSync(configFile, moved.replace('["localhost"]', '["localhost","new.example"]'));
    const refused = await runProgram(['entry/router-cli.ts', 'run', configFile]);
    t.match([refused.code, refused.stderr], [1, /valid for new\.example.*start the router with --extend/s]);
    const program = new Program('router', ['entry/router-cli.ts', 'run', configFile, '--extend'], {
      directory: overlay.directory,
    });
    const certificate = () => new X509Certificate(readFileSync(join(overlay.directory, 'a.server.cert')));
    await until('renewed certificates', () => certificate().checkHost('new.example') !== undefined);
    await until('their confirmation', () => !existsSync(join(overlay.directory, 'a.cert.pending')));
    await program.stop();
    t.ok(loadRouterConfig(configFile).ok);
    const again = await overlay.startRouter(configFile);
    const isOnline = async () => (await overlay.management.edgeRouters.get(id)).isOnline;
    await until('the router to be online with them', isOnline);
    await again.close({ drain: 0 });
  },
);

t.test('new certificates without an advertised name are reported', async (t) => {
  await using overlay = await Overlay.start({ churnLimit: 0 });
  const { configFile } = await overlay.enrollRouter({ name: 'a' });
  const text = readFileSync(configFile, 'utf8');
  writeFileSync(configFile, text.replace('"ip":["127.0.0.1"]', '"ip":[]'));
  const lines: string[] = [];
  const log = createLog({ write: (line) => void lines.push(line) });
  const router = await overlay.startRouter(configFile, { extend: true, log });
  const found = () => lines.map((line) => JSON.parse(line)).find(({ msg }) => /no certificate is valid/.test(msg));
  await until('the report', () => found() !== undefined);
  t.match(found(), { level: 'error', key: 'link.listeners[0].advertise', host: '127.0.0.1', remedy: /csr\.sans/ });
  await router.close({ drain: 0 });
});

t.test('a router whose renewal was confirmed but not installed returns with the renewed certificate', async (t) => {
  await using overlay = await Overlay.start({ churnLimit: 0 });
  const { id, configFile } = await enrollWith(overlay, join(overlay.directory, 'a.server.key'));
  const files = ['cert', 'server.cert'].map((kind) => join(overlay.directory, `a.${kind}`));
  const read = () => files.map((file) => readFileSync(file, 'utf8'));
  const enrolled = read();
  const router = await overlay.startRouter(configFile, { extend: true });
  await until('renewed certificates', () => read().every((content, index) => content !== enrolled[index]));
  await until('the end of the renewal', () => !files.some((file) => existsSync(`${file}.pending`)));
  const isOnline = async () => (await overlay.management.edgeRouters.get(id)).isOnline;
  await router.close({ drain: 0 });
  const renewed = read();
  for (const [index, file] of files.entries()) {
    writeFileSync(file, enrolled[index] ?? '');
    writeFileSync(`${file}.pending`, renewed[index] ?? '');
  }
  const again = await overlay.startRouter(configFile);
  await until('the router to be online', isOnline);
  t.same(read(), renewed);
  await again.close({ drain: 0 });
});

t.test('a renewed certificate waits for its confirmation, also while the controller restarts', async (t) => {
  const data = join(mkdtempSync(join(tmpdir(), 'renewal-')), 'data.jsonl');
  t.teardown(() => rmSync(dirname(data), { recursive: true, force: true }));
  await using overlay = await Overlay.start({ churnLimit: 0, data });
  const { id, configFile } = await overlay.enrollRouter({ name: 'a' });
  const shown = async () => {
    const router = await overlay.management.edgeRouters.get(id);
    const { fingerprint, unverifiedFingerprint, unverifiedCertPem } = router;
    return { fingerprint, unverifiedFingerprint, unverifiedCertPem };
  };
  const { fingerprint: enrolled } = await shown();
  const { csr } = newRequest(id);
  const renewal = toBinary(
    EnrollmentExtendRouterRequestSchema,
    create(EnrollmentExtendRouterRequestSchema, {
      clientCertCsr: csr,
      serverCertCsr: csr,
      requireVerification: true,
    }),
  );
  const renew = async (peer: RouterPeer) => {
    const request = new Message(EdgeControlType.EnrollmentExtendRouter, [], renewal);
    const answer = await peer.ask(request, EdgeControlType.EnrollmentCertsResponse);
    return answer.decode(EnrollmentCertsResponseSchema).clientCertPem;
  };
  const confirm = async (peer: RouterPeer, clientCertPem: string) => {
    const schema = EnrollmentExtendRouterVerifyRequestSchema;
    const body = toBinary(schema, create(schema, { clientCertPem }));
    const answer = await peer.request(new Message(EdgeControlType.EnrollmentExtendRouterVerify, [], body));
    return answer.decode(ErrorSchema).code;
  };

  const before = await RouterPeer.connect(configFile);
  const lost = await renew(before);
  const waiting = await renew(before);
  const unverifiedFingerprint = sha1Fingerprint(leafOf(waiting));
  t.same(await shown(), { fingerprint: enrolled, unverifiedFingerprint, unverifiedCertPem: waiting });
  before.close();
  await overlay.simulator.close();
  await overlay.restart({ data });
  const after = await RouterPeer.connect(configFile);
  t.equal(await confirm(after, lost), 'INVALID_CLIENT_PEM', 'an earlier one');
  t.same(await shown(), { fingerprint: enrolled, unverifiedFingerprint, unverifiedCertPem: waiting });
  t.equal(await confirm(after, waiting), '', 'the one that waits');
  const none = { unverifiedFingerprint: null, unverifiedCertPem: null };
  t.same(await shown(), { fingerprint: unverifiedFingerprint, ...none });
  t.equal(await confirm(after, waiting), 'INVALID_ROUTER_STATE', 'once more');

  const next = await renew(after);
  await using api = new ApiClient(overlay.simulator);
  api.token = await api.login(overlay.simulator.username, 'secret');
  t.equal((await api.manage('POST', `/edge-routers/${id}/re-enroll`)).status, 200);
  t.same(await shown(), { fingerprint: undefined, ...none }, 'enrolls again');
  await t.rejects(confirm(after, next), 'its connection has ended');
  after.close();
});
