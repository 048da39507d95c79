// Debian packages: other programs read them, and the same content has the same bytes.

import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import type { SystemPackage } from './contents.ts';
import { debianPackage } from './deb.ts';

const CONTENTS: SystemPackage = {
  name: 'edgeweave-example',
  version: '1.2.3',
  license: 'Apache-2.0',
  summary: 'an example',
  description: ['One paragraph of words that are longer than one line of seventy-eight characters.', 'Another.'],
  files: [
    { path: 'usr/bin/example', mode: 0o755, content: Buffer.from('#!/bin/sh\n') },
    { path: `usr/share/${'long/'.repeat(20)}file`, mode: 0o644, content: Buffer.from('odd') },
    { path: 'etc/example.conf', mode: 0o644, content: Buffer.alloc(513, '#'), isConfiguration: true },
  ],
  scripts: { afterInstallation: 'true', beforeRemoval: 'true', afterRemoval: 'true', afterPurge: 'true' },
  depends: 'libc6',
  recommends: '',
};
const INIT = { architecture: 'amd64', maintainer: 'Nobody <nobody@example.com>', time: 1_767_225_600 };
const skip = spawnSync('dpkg-deb', ['--version']).status !== 0 && 'dpkg-deb is not installed';

t.test('the same content has the same bytes', async (t) => {
  t.ok(debianPackage(CONTENTS, INIT).equals(debianPackage(CONTENTS, INIT)));
});

t.test('dpkg-deb reads fields, modes, owners and conffiles', { skip }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'edgeweave-deb-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'example.deb');
  writeFileSync(file, debianPackage(CONTENTS, INIT));
  const read = (...args: string[]) =>
    execFileSync('dpkg-deb', args, { encoding: 'utf8', env: { PATH: process.env.PATH, TZ: 'UTC' } });
  const fields = read('--field', file);
  t.match(fields, /^Package: edgeweave-example\nVersion: 1\.2\.3-1\nArchitecture: amd64\n/);
  t.match(fields, '\nDescription: an example\n One paragraph of words');
  t.match(fields, '\n .\n Another.\n');
  const list = read('--contents', file);
  t.match(list, /^-rwxr-xr-x 0\/0 +10 2026-01-01 00:00 \.\/usr\/bin\/example$/m);
  t.match(list, `./usr/share/${'long/'.repeat(20)}file\n`);
  t.equal(read('--info', file, 'conffiles'), '/etc/example.conf\n');
  t.match(read('--info', file, 'postrm'), 'if [ "$1" = purge ]; then\ntrue\nfi');
});
