// The certificates of a router over its life: separate keys, and renewals under difficult circumstances.

import { createPrivateKey, generateKeyPairSync, X509Certificate } from 'node:crypto';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { SystemClock } from '#lib/clock.ts';
import { silentLog } from '#lib/log.ts';
import { loadRouterConfig } from '../../agent/config/load.ts';
import { enrollRouter } from '../../agent/enroll/enroll.ts';
import { Overlay, until } from '../support/overlay.ts';

/** Enrolls router `a` with `server_key`; `value` is its value in YAML. */
async function enrollWith(overlay: Overlay, value: string) {
  const id = await overlay.management.create('edge-routers', { name: 'a', isTunnelerEnabled: true });
  const { enrollmentJwt: jwt } = await overlay.management.get<{ enrollmentJwt: string }>(`edge-routers/${id}`);
  const { configFile } = await overlay.writeConfig({ name: 'a' });
  const text = readFileSync(configFile, 'utf8').replace(' ca: ', ` server_key: ${value}, ca: `);
  writeFileSync(configFile, text);
  const { config } = loadRouterConfig(configFile, { beforeEnrollment: true });
  if (!config) throw new Error('the configuration is invalid');
  await enrollRouter({ config, jwt, keyAlgorithm: 'EC', clock: new SystemClock(), log: silentLog });
  return { id, configFile };
}

t.test('a separate key of the server certificate is used by enrollment and renewal', async (t) => {
  const pem = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' });
  const inline = JSON.stringify(`pem:${pem}`);
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
    const isOnline = async () => (await overlay.management.get<{ isOnline: boolean }>(`edge-routers/${id}`)).isOnline;
    await until('the router to be online with them', isOnline);
    await again.close({ drain: 0 });
  }
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
  const isOnline = async () => (await overlay.management.get<{ isOnline: boolean }>(`edge-routers/${id}`)).isOnline;
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
