// The documents of a release: version, notes, bill of materials, provenance.

import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import packageJson from '../../package.json' with { type: 'json' };
import { newestSection, released } from '../../tools/release/changelog.ts';
import { componentsOfExecutables, debianLicenses } from '../../tools/release/components.ts';
import { withoutNetwork } from '../../tools/release/no-network.ts';
import { setPlainModes } from '../../tools/release/plain-modes.ts';
import { provenance } from '../../tools/release/provenance.ts';
import { sbom } from '../../tools/release/sbom.ts';
import { RELEASE } from '../support/house/thorough.ts';

const ROOT = join(import.meta.dirname, '../..');
const PARTS = [
  'package.json',
  'package-lock.json',
  'CHANGELOG.md',
  'README.md',
  'docs',
  'examples',
  'clients',
  'tools',
];
const NEXT = '12.34.56';
const { NODE_OPTIONS: _modulesOfTap, ...env } = process.env;
const INIT = { name: 'edgeweave', version: NEXT, license: 'Apache-2.0', time: 1_767_225_600 };

function copy(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'edgeweave-release-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  for (const part of [...PARTS, 'agent', 'common', 'controller-sim', 'schemas', 'testbed'])
    cpSync(join(ROOT, part), join(folder, part), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x@example.com', ...args], { cwd: folder });
  git('init', '--quiet');
  git('add', '.');
  git('commit', '--quiet', '--message', 'state');
  return folder;
}

t.test('--prepare sets the version everywhere; without it nothing is built', async (t) => {
  const folder = copy(t);
  const run = (...args: string[]) =>
    spawnSync(process.execPath, ['tools/release/release.ts', ...args], { cwd: folder, env, encoding: 'utf8' });
  const early = run(NEXT, join(folder, 'out'));
  t.match(early.stderr, `package.json has the version ${packageJson.version}\n`);
  t.match(early.stderr, `run \`npm run release -- ${NEXT} --prepare\`, and commit\n`);
  t.equal(early.status, 1);
  t.match(run('1.2').stderr, /^usage: npm run release -- VERSION/);
  t.equal(run(NEXT, '--prepare').status, 0);
  const changed = execFileSync('git', ['diff', '--name-only'], { cwd: folder, encoding: 'utf8' }).split('\n');
  for (const file of ['package.json', 'package-lock.json', 'CHANGELOG.md', 'clients/java/pom.xml', 'README.md'])
    t.ok(changed.includes(file), file);
  const left = spawnSync(
    'git',
    ['grep', '--files-with-matches', '--fixed-strings', packageJson.version, '--', ...PARTS],
    {
      cwd: folder,
      encoding: 'utf8',
    },
  );
  // Explanations of versions; a dependency of this version.
  const others = ['CHANGELOG.md', 'docs/releasing.md', 'package-lock.json'];
  t.same(
    left.stdout.split('\n').filter((file) => file !== '' && !others.includes(file) && !file.startsWith('tools/')),
    [],
  );
  t.equal(newestSection(readFileSync(join(folder, 'CHANGELOG.md'), 'utf8')).version, NEXT);
  t.match(run(NEXT, join(folder, 'out')).stderr, 'the checkout has uncommitted files');
});

t.test('the notes are the newest section of the change log', async (t) => {
  const log = '# Changes\n\n## 0.2.0, not released\n\n- new\n\n### Fixed\n\n- a\n\n## 0.1.0, 2026-11-30\n\n- old\n';
  t.same(newestSection(log), { version: '0.2.0', date: undefined, text: '- new\n\n### Fixed\n\n- a' });
  t.same(newestSection(released(log, '0.3.0', '2027-01-02')), {
    version: '0.3.0',
    date: '2027-01-02',
    text: '- new\n\n### Fixed\n\n- a',
  });
  t.throws(() => newestSection('# Changes\n'), /CHANGELOG\.md has no section/);
});

t.test(
  'the bill of materials names each package in the executables, with the checksum that the lockfile has',
  { skip: !RELEASE && 'bundles: only with --release' },
  async (t) => {
    const components = await componentsOfExecutables();
    const text = sbom(components, INIT);
    t.equal(text, sbom(await componentsOfExecutables(), INIT), 'the same bytes each time');
    const { components: listed, serialNumber } = JSON.parse(text) as {
      components: { name: string; version: string; hashes?: { content: string }[]; properties: { value: string }[] }[];
      serialNumber: string;
    };
    t.match(serialNumber, /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    const found = (name: string) => listed.find((each) => each.name === name);
    t.equal(found('fastify')?.version, packageJson.dependencies.fastify);
    t.match(found('fastify')?.hashes?.[0]?.content, /^[0-9a-f]{128}$/);
    t.same(
      found('sodium-native')?.properties.map(({ value }) => value),
      ['edgeweave-router', 'edgeweave-sim'],
    );
    t.equal(found('node')?.version, process.versions.node);
    t.equal(found('openssl')?.version, process.versions.openssl);
    t.same(
      listed.filter(({ version }) => version === ''),
      [],
    );
    t.equal(new Set(components.map(({ purl }) => purl)).size, components.length, 'each one once');
    t.notOk(found('typescript'), 'tools are not in the executables');
    t.same(
      components.flatMap(({ name, license }) => (license === undefined ? [name] : [])),
      [],
      'each has a license',
    );
  },
);

t.test('the package has the same bytes after a build with another umask', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'edgeweave-release-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, 'package/bin'), { recursive: true });
  const [program, other] = ['package/bin/program', 'package/a'].map((path) => join(folder, path)) as [string, string];
  for (const file of [program, other]) writeFileSync(file, file === program ? '#!/bin/sh\n' : 'a');
  const packed = (name: string, programMode: number, otherMode: number) => {
    chmodSync(program, programMode);
    chmodSync(other, otherMode);
    const file = join(folder, name);
    execFileSync('tar', ['-czf', file, '-C', folder, 'package']);
    setPlainModes(file, INIT.time);
    return file;
  };
  const [first, second] = [packed('1.tgz', 0o755, 0o644), packed('2.tgz', 0o700, 0o600)];
  t.ok(readFileSync(first).equals(readFileSync(second)));
  const listed = execFileSync('tar', ['-tvzf', second], { encoding: 'utf8' });
  t.match(listed, /^-rw-r--r-- 0\/0 .* package\/a\n-rwxr-xr-x 0\/0 .* package\/bin\/program\n$/);
});

t.test('a Debian package has the licenses of its parts', async (t) => {
  const parts = 'Files: *\nLicense: GPL-2+\n text\n\nFiles: a\nLicense: Expat\n\nLicense: GPL-2+\n The text.\n';
  t.same(debianLicenses('one', `Format: https://example.com/1.0/\n\n${parts}`), ['Expat', 'GPL-2+']);
  t.same(debianLicenses('one', 'This package is free: GPL.\n'), ['as in usr/share/doc/one/copyright']);
  const licenseNames = ['Expat', 'GPL-2+'];
  const text = sbom([{ name: 'one', version: '1', purl: 'pkg:deb/debian/one@1', licenseNames, within: [] }], INIT);
  t.same(JSON.parse(text).components[0].licenses, [{ license: { name: 'Expat' } }, { license: { name: 'GPL-2+' } }]);
});

t.test('the provenance has the commit, the lockfile and the checksum of each file', async (t) => {
  const files = new Map([['edgeweave.tgz', 'a'.repeat(64)]]);
  const conditions = { tests: 'passed', network: 'none' } as const;
  const init = { ...INIT, ...conditions, files, commit: 'b'.repeat(40), lockfile: 'c'.repeat(64) };
  const { subject, predicate } = JSON.parse(provenance(init));
  t.same(subject, [{ name: 'edgeweave.tgz', digest: { sha256: 'a'.repeat(64) } }]);
  t.match(predicate.buildDefinition.resolvedDependencies, [
    { digest: { gitCommit: 'b'.repeat(40) } },
    { digest: { sha256: 'c'.repeat(64) } },
  ]);
  t.match(predicate.buildDefinition.internalParameters, conditions);
});

t.test('a build reaches no network', { skip: !withoutNetwork() && 'namespaces are not permitted' }, async (t) => {
  const server = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
  t.teardown(() => server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const program = `require('node:net').connect(${port}, '127.0.0.1').on('connect', () => process.exit(0)).on('error', ({ code }) => { console.log(code); process.exit(1); })`;
  const attempt = (prefix: readonly string[]) => {
    const [command = '', ...args] = [...prefix, process.execPath, '-e', program];
    return promisify(execFile)(command, args, { env }).then(
      () => 'connected',
      ({ stdout }: { stdout: string }) => stdout.trim(),
    );
  };
  t.equal(await attempt([]), 'connected');
  t.equal(await attempt(withoutNetwork() ?? []), 'ENETUNREACH');
});
