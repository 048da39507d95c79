// Certificates that change while they are in use.

import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { VirtualClock } from '#lib/clock.ts';
import { silentLog } from '#lib/log.ts';
import { issue, makeAuthority } from '../../test/support/certificates.ts';
import { Identity } from './identity.ts';

/** Looks for an effect, ten milliseconds apart. */
const MOST_TRIES = 500;

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
    for (let tries = 0; tries < MOST_TRIES && identity.certificate.toString().trim() !== pem.trim(); tries++) {
      await new Promise((resolve) => setTimeout(resolve, 10));
      if (clock.timers().length > 0) await clock.advance(1_000);
    }
    return identity.certificate.toString().trim() === pem.trim();
  };
  return { identity, loads };
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
