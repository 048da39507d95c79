// Writes of the hosts file that must not lose the lines of others, with mounts in a namespace.

import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inOwnNamespace, run } from '../../../../../test/support/networks/network-namespace.ts';
import { HostsFile } from './hosts-file.ts';

const OTHERS = '127.0.0.1\tlocalhost\n10.0.0.1\tother\n';
const NAMES = new Map([['web.example', '100.64.0.2']]);
const OWN = '100.64.0.2\tweb.example\t# edgeweave router\n';

if (await inOwnNamespace(import.meta.filename, ['mount'])) await tests();

async function tests(): Promise<void> {
  const { default: t } = await import('tap');
  const folder = mkdtempSync(join(tmpdir(), 'edgeweave-test-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'hosts');
  const hosts = new HostsFile(path, 'router');
  const content = () => readFileSync(path, 'utf8');
  t.beforeEach(() => {
    writeFileSync(path, OTHERS);
    chmodSync(path, 0o664);
  });

  t.test('the file is replaced, with its permissions', async (t) => {
    const { ino } = statSync(path);
    await hosts.write(NAMES);
    t.equal(content(), OTHERS + OWN);
    t.not(statSync(path).ino, ino, 'a crash keeps the old file or the new one');
    t.equal(statSync(path).mode & 0o7777, 0o664);
    await hosts.write(new Map());
    t.equal(content(), OTHERS);
    t.same(readdirSync(folder), ['hosts']);
  });

  t.test('a new file is readable for all, and a link stays', async (t) => {
    const link = join(folder, 'link');
    symlinkSync('target', link);
    await new HostsFile(link, 'router').write(NAMES);
    t.equal(readFileSync(join(folder, 'target'), 'utf8'), OWN);
    t.equal(statSync(link).mode & 0o7777, 0o644);
    for (const name of ['link', 'target']) rmSync(join(folder, name));
  });

  t.test('a mounted file, as in containers, is written in place', async (t) => {
    run('mount', '--bind', path, path);
    const { ino } = statSync(path);
    await hosts.write(NAMES);
    t.equal(content(), OTHERS + OWN);
    await hosts.write(new Map());
    t.equal(content(), OTHERS);
    t.equal(statSync(path).ino, ino);
    t.same(readdirSync(folder), ['hosts'], 'no temporary file remains');
    run('umount', path);
  });

  t.test('a full disk loses no lines', async (t) => {
    const disk = join(folder, 'disk');
    mkdirSync(disk);
    run('mount', '-t', 'tmpfs', '-o', 'size=16k', 'tmpfs', disk);
    const file = join(disk, 'hosts');
    writeFileSync(file, OTHERS);
    const names = new Map(Array.from({ length: 1_000 }, (_none, n) => [`name${n}.example`, '100.64.0.2']));
    await t.rejects(new HostsFile(file, 'router').write(names), { code: 'ENOSPC' });
    t.equal(readFileSync(file, 'utf8'), OTHERS);
    t.same(readdirSync(disk), ['hosts']);
    run('mount', '--bind', file, file);
    await t.rejects(new HostsFile(file, 'router').write(names), { code: 'ENOSPC' });
    t.ok(readFileSync(file, 'utf8').startsWith(OTHERS), 'not even in place');
    run('umount', file);
    run('umount', disk);
    rmSync(disk, { recursive: true });
  });
}
