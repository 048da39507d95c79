// Forms of certificate files that the reference reads: the check of the configuration and the running router read them,
// too.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSecureContext } from 'node:tls';
import t from 'tap';
import { silentLog } from '#lib/log/log.ts';
import { VirtualClock } from '#lib/time/clock.ts';
import { issue, makeAuthority } from '../../test/support/clients/certificates.ts';
import { checkRouterConfig } from '../config/load.ts';
import { Identity, IdentityError } from './identity.ts';

const UNREADABLE = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';
const folder = mkdtempSync(join(tmpdir(), 'edgeweave-test-'));
t.teardown(() => rmSync(folder, { recursive: true, force: true }));
const authority = await makeAuthority('network');
const { pem, key } = await issue(authority, 'router', { hosts: ['localhost'], ips: ['127.0.0.1'] });
const FILES = {
  cert: pem,
  key: String(key.export({ type: 'pkcs8', format: 'pem' })),
  ca: authority.certificate.toString('pem'),
};

/** Opens the identity of the files, and returns it with the warnings and errors about them. */
async function read(changed: Partial<typeof FILES>) {
  const config = { cert: join(folder, 'cert'), key: join(folder, 'key'), ca: join(folder, 'ca'), alt_server_certs: [] };
  for (const [name, text] of Object.entries({ ...FILES, ...changed }))
    writeFileSync(join(folder, name), text, { mode: 0o600 });
  writeFileSync(join(folder, 'server'), FILES.cert);
  const { cert, ca } = config;
  const text = `v: 3\nidentity: {cert: ${cert}, server_cert: ${join(folder, 'server')}, key: ${config.key}, ca: ${ca}}\nctrl: {endpoint: "tls:c.example:1"}\n`;
  const { findings } = checkRouterConfig(text, join(folder, 'router.yml'));
  const opening = Identity.open({ config, clock: new VirtualClock(), log: silentLog, watch: false });
  return {
    opening,
    findings: findings.filter(({ path, severity }) => path.startsWith('identity') && severity !== 'info'),
  };
}

t.test('blank lines, line ends of other systems and texts around are read', async (t) => {
  const doubled = (text: string) => text.replaceAll('\n', '\n\n');
  const crlf = (text: string) => text.replaceAll('\n', '\r\n');
  const around = (text: string) => `Bag Attributes\n${text}that is all\n`;
  for (const form of [doubled, crlf, around, (text: string) => crlf(doubled(text))]) {
    const [cert, keyText, ca] = [form(FILES.cert), form(FILES.key), form(FILES.ca)];
    const { opening, findings } = await read({ cert, key: keyText, ca });
    t.same(findings, [], form.name);
    const identity = await opening;
    t.ok(createSecureContext(identity.serverContexts()[0]), form.name);
    t.equal(identity.roots.length, 1);
    identity.close();
  }
});

t.test('authorities that cannot be read are ignored with a warning, unless none is left', async (t) => {
  for (const [ca, count] of [
    [UNREADABLE + FILES.ca, 'it is ignored'],
    [FILES.ca + UNREADABLE + UNREADABLE, '2 such certificates are ignored'],
  ] as const) {
    const { opening, findings } = await read({ ca });
    t.match(findings, [
      { severity: 'warning', path: 'identity.ca', message: new RegExp(`cannot be read: .*; ${count}$`) },
    ]);
    const identity = await opening;
    t.equal(identity.roots.length, 1);
    t.ok(createSecureContext(identity.clientContext()));
    identity.close();
  }
  const none = await read({ ca: UNREADABLE });
  t.match(none.findings, [{ severity: 'error', path: 'identity.ca', message: /^certificate 1 cannot be read/ }]);
  await t.rejects(none.opening, { message: /^identity\.ca: certificate 1 cannot be read/ });
  const chain = await read({ cert: FILES.cert + UNREADABLE });
  t.match(chain.findings[0], { severity: 'error', path: 'identity.cert', message: /^certificate 2 cannot be read/ });
  await t.rejects(chain.opening, IdentityError, 'a chain must be complete');
});
