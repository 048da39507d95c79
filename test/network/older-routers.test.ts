// Routers and controllers of other releases: the simulator warns of unknown messages, a router of controllers that are
// too old or refuse it.

import { writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { SignJWT } from 'jose';
import t from 'tap';
import { createLog } from '#lib/log/log.ts';
import { leafOf } from '#pki/certificates.ts';
import { base64Lines } from '#pki/pem.ts';
import { Message } from '#wire/message.ts';
import { certificateBag } from '../../controller-sim/pki/certificate-bag.ts';
import { issue, makeAuthority } from '../support/clients/certificates.ts';
import { dialing, listening } from '../support/config/link-config.ts';
import { rawText } from '../support/hostile/raw-protobuf.ts';
import { RouterPeer } from '../support/hostile/router-peer.ts';
import { linksOf } from '../support/networks/faulty-paths.ts';
import { Overlay } from '../support/networks/overlay.ts';
import { runProgram } from '../support/programs/run.ts';
import { until } from '../support/until.ts';

const UNKNOWN = 20_999;
const LIST_SERVICES = 20_404;
const SERVICES = 20_405;
const CREATE_API_SESSION = 20_400;

t.test('the simulator warns of an unknown type once per router, and continues', async (t) => {
  const lines: Record<string, unknown>[] = [];
  const log = createLog({ format: 'json', write: (line) => void lines.push(JSON.parse(line)) });
  await using overlay = await Overlay.start({ churnLimit: 0, log });
  const { id, configFile } = await overlay.enrollRouter({ name: 'a', mode: 'host' });
  await overlay.addService('echo', id);
  for (let connection = 0; connection < 2; connection++) {
    const peer = await RouterPeer.connect(configFile);
    for (let count = 0; count < 3; count++) peer.send(new Message(UNKNOWN));
    const session = await peer.request(new Message(CREATE_API_SESSION));
    t.equal(rawText(session.body, 4), id, 'the session of the identity');
    const services = await peer.ask(new Message(LIST_SERVICES), SERVICES);
    t.ok(services.body.includes('"host.v1"'), 'services with their configs');
    peer.close();
    await until(
      'the disconnection',
      () => lines.filter(({ msg }) => msg === 'router disconnected').length > connection,
    );
  }
  const warnings = lines.filter(({ contentType }) => contentType === UNKNOWN);
  t.match(warnings, [{ level: 'warn', routerId: id, version: /^v/, msg: 'messages of an unknown type are ignored' }]);
  t.equal(warnings.length, 1);
});

t.test('inspections of a router say why a controller refuses it', async (t) => {
  await using overlay = await Overlay.start({ churnLimit: 0 });
  const { id, configFile } = await overlay.enrollRouter({ name: 'a', mode: 'host' });
  await overlay.management.edgeRouters.patch(id, { disabled: true });
  await using router = await overlay.startRouter(configFile);
  const endpoint = overlay.simulator.controlAddress;
  await until('the refusal', () => router.describe().notConnected.some(({ error }) => error !== undefined));
  const why = {
    endpoint,
    error: String,
    likely: /the router is disabled, the certificate has expired/,
    remedy: /read the log of the controller/,
  };
  t.match(router.describe(), { controllers: [], notConnected: [{ endpoints: [endpoint], ...why }] });
  const { stdout } = await runProgram(['entry/router-cli.ts', 'inspect', configFile, 'router-controllers']);
  t.match(stdout, endpoint);
  t.match(stdout, /connected: false/);
  t.match(stdout, /error: .*likely: .*the router is disabled.*remedy: /s);
  await overlay.management.edgeRouters.patch(id, { disabled: false });
  await until('the connection', () => router.describe().controllers.length === 1);
  t.match(router.describe(), { notConnected: [] });
});

t.test('enrollment warns of a controller before 2.0, before the token is used', async (t) => {
  await using overlay = await Overlay.start();
  const authority = await makeAuthority('Old');
  const { pem, key } = await issue(authority, 'ctrl', { ips: ['127.0.0.1'] });
  const asked: string[] = [];
  let version = 'v1.6.20';
  const answers: Record<string, () => string> = {
    '/edge/client/v1/.well-known/est/cacerts': () =>
      base64Lines(certificateBag([leafOf(authority.certificate.toString('pem'))])),
    '/edge/client/v1/version': () => JSON.stringify({ data: { version }, meta: {} }),
  };
  const server = createServer(
    { cert: pem, key: key.export({ type: 'pkcs8', format: 'pem' }) },
    ({ url = '' }, answer) => {
      const [path = ''] = url.split('?');
      asked.push(path);
      answer.statusCode = answers[path] ? 200 : 400;
      answer.end(answers[path]?.() ?? '{}');
    },
  );
  t.teardown(() => server.close());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const jwt = await new SignJWT({ em: 'erott', ctrls: ['tls:127.0.0.1:1'] })
    .setProtectedHeader({ alg: 'ES256' })
    .setIssuer(issuer)
    .setSubject('r1')
    .setAudience([''])
    .setJti('token')
    .setExpirationTime('1h')
    .sign(key);
  const configFile = overlay.writeConfig({ name: 'a', mode: 'host' });
  const file = join(overlay.directory, 'token.jwt');
  writeFileSync(file, jwt);
  const enroll = () => runProgram(['entry/router-cli.ts', 'enroll', configFile, '--jwt', file, '--key-alg', 'EC']);
  const old = await enroll();
  t.match(old.stderr, /the controller is too old: this router will not connect to it.*v1\.6\.20.*2\.0 or later/s);
  t.same(asked.slice(-2), ['/edge/client/v1/version', '/edge/client/v1/enroll']);
  version = 'v2.0.3';
  t.notMatch((await enroll()).stderr, /too old/);
});

t.test('links to routers without grouped connections are reported with the types of the reference', async (t) => {
  for (const [split, types] of [
    [true, ['payload', 'ack']],
    [false, ['single']],
  ] as const) {
    await using overlay = await Overlay.start({ churnLimit: 0, linkVersion: 'v1.5.0' });
    await overlay.addRouter({ name: 'listening', mode: 'host', link: listening() });
    await overlay.addRouter({ name: 'dialing', mode: 'host', link: dialing({ split }) });
    const reported = async () =>
      (await linksOf(overlay)).flatMap(({ connections }) => connections.map(({ type }) => type));
    await until('the link', async () => (await reported()).length === types.length);
    t.same(await reported(), types, `split: ${split}`);
  }
});
