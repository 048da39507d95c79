// Configuration files and the reference: the files that its command writes, and the empty values that its router
// accepts.

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { loadRouterConfig } from '../../agent/config/load.ts';
import { issue, makeAuthority } from '../support/clients/certificates.ts';
import { emptied, fullConfig, type Variant } from '../support/config/full-config.ts';
import { ReferenceProcess, skipped } from '../support/programs/reference.ts';
import { until } from '../support/until.ts';

interface Recorded {
  readonly starts: readonly string[];
  readonly stops: readonly string[];
}

const RECORDED: Readonly<Record<'null' | 'empty', Recorded>> = JSON.parse(
  readFileSync(join(import.meta.dirname, '../vectors/empty-values.json'), 'utf8'),
);
/** The router logs it when everything is open: no controller listens at the configured address. */
const STARTED = 'unable to connect controller';
/** A router that starts is still there after this time, in milliseconds. */
const STAYS = 250;
const WORKERS = 2;

function folderFor(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'edgeweave-test-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function starts(text: string, directory: string): Promise<boolean> {
  mkdirSync(directory);
  const file = join(directory, 'router.yml');
  writeFileSync(file, text);
  await using router = new ReferenceProcess('router', ['router', 'run', file], directory);
  await until('its start or end', () => !router.isRunning || router.log.includes(STARTED));
  const stays = new Promise((resolve) => setTimeout(resolve, STAYS, 'running'));
  return (await Promise.race([stays, router.exited])) === 'running';
}

/** Runs the router with each variant. Returns the paths of those that it starts with, and of the others. */
async function record(variants: readonly Variant[], folder: string): Promise<Recorded> {
  const verdicts = new Map<string, boolean>();
  const queue = variants.entries();
  const work = async (worker: number) => {
    for (const [index, { path, text }] of queue) {
      const ownPorts = text.replaceAll(':190', `:19${worker}`);
      verdicts.set(path, await starts(ownPorts, join(folder, `${index}`)));
    }
  };
  await Promise.all(Array.from({ length: WORKERS }, (_, index) => work(index + 1)));
  const paths = variants.map(({ path }) => path);
  return { starts: paths.filter((path) => verdicts.get(path)), stops: paths.filter((path) => !verdicts.get(path)) };
}

t.test(
  'the router of the reference accepts the recorded empty values',
  { skip: skipped, timeout: 300_000 },
  async (t) => {
    const folder = folderFor(t);
    const authority = await makeAuthority('Authority');
    const { pem, key } = await issue(authority, 'router', { hosts: ['localhost'], ips: ['127.0.0.1'] });
    writeFileSync(join(folder, 'r.cert'), pem);
    writeFileSync(join(folder, 'r.key'), key.export({ type: 'pkcs8', format: 'pem' }));
    writeFileSync(join(folder, 'r.ca'), authority.certificate.toString('pem'));
    const text = fullConfig(folder, '190');
    t.ok(await starts(text, join(folder, 'full')), 'the whole file');
    const runs = [
      ['null', null],
      ['empty', ''],
    ] as const;
    for (const [name, value] of runs) {
      mkdirSync(join(folder, name));
      t.same(await record(emptied(text, value), join(folder, name)), RECORDED[name], name);
    }
  },
);

t.test(
  'the files that the command of the reference writes can be enrolled with',
  { skip: skipped, timeout: 60_000 },
  async (t) => {
    const folder = folderFor(t);
    const kinds = [
      ['edge'],
      ['edge', '--private'],
      ['edge', '--wss'],
      ['edge', '--tunnelerMode', 'tproxy'],
      ['edge', '--tunnelerMode', 'none'],
      ['fabric'],
    ];
    for (const [index, kind] of kinds.entries()) {
      const file = join(folder, `${index}.yml`);
      const args = ['create', 'config', 'router', ...kind, '--routerName', 'router', '--output', file];
      await new ReferenceProcess(`create-${index}`, args, folder).done();
      const { ok, findings } = loadRouterConfig(file, { beforeEnrollment: true });
      t.ok(ok, `${kind.join(' ')}: ${JSON.stringify(findings)}`);
      t.ok(findings.some(({ code, severity }) => code === 'CFG-ENDPOINT' && severity === 'info'));
      t.notOk(
        findings.some(({ code }) => code === 'CFG-UNKNOWN-KEY'),
        JSON.stringify(findings),
      );
    }
  },
);
