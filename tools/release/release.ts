// `npm run release -- VERSION [FOLDER]`: checks, tests, builds and collects a release in one folder. docs/releasing.md
// explains the steps.

import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import packageJson from '../../package.json' with { type: 'json' };
import { needFolder, print, ROOT } from '../commands.ts';
import { generateVersions } from '../generate/versions.ts';
import { ROUTER_IMAGE } from '../image/router-image.ts';
import { SIMULATOR_IMAGE } from '../image/simulator-image.ts';
import type { Processor } from '../image/system-files.ts';
import { sourceTime } from '../source-time.ts';
import { buildFiles } from './build-files.ts';
import { newestSection, released } from './changelog.ts';
import { componentsOfExecutables, componentsOfImages } from './components.ts';
import { withoutNetwork } from './no-network.ts';
import { provenance } from './provenance.ts';
import { sbom } from './sbom.ts';

const USE = `usage: npm run release -- VERSION [FOLDER] [--prepare | --skip-tests | --once]
  --prepare     write the version and the date of today into package.json, CHANGELOG.md and the documents, and stop
  --skip-tests  do not run checks and tests; the provenance says so
  --once        build once: do not compare two builds`;
const CHANGELOG = join(ROOT, 'CHANGELOG.md');
const SUMS = 'SHA256SUMS';

class ReleaseError extends Error {}

interface Release {
  readonly version: string;
  readonly folder: string;
  readonly skipsTests: boolean;
  readonly buildsOnce: boolean;
}

try {
  await main();
} catch (error) {
  if (!(error instanceof ReleaseError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}

async function main(): Promise<void> {
  const { version, folder, prepare, ...rest } = readArguments();
  if (prepare) return prepareVersion(version);
  checkTree(version);
  needFolder(folder, 'pass another folder: npm run release -- VERSION FOLDER');
  if (existsSync(folder) && readdirSync(folder).length > 0)
    throw new ReleaseError(`${folder} is not empty: delete it, or pass another folder`);
  await release({ version, folder, ...rest });
}

function readArguments() {
  const flags = { prepare: { type: 'boolean' }, 'skip-tests': { type: 'boolean' }, once: { type: 'boolean' } } as const;
  try {
    const { positionals, values } = parseArgs({ allowPositionals: true, options: flags });
    const [version = '', folder = join(ROOT, 'build', `release-${version}`), ...others] = positionals;
    if (!/^\d+\.\d+\.\d+$/.test(version) || others.length > 0) throw new Error(USE);
    const { prepare = false, once = false, 'skip-tests': skipsTests = false } = values;
    return { version, folder: resolve(folder), prepare, skipsTests, buildsOnce: once };
  } catch {
    throw new ReleaseError(USE);
  }
}

/**
 * Sets the version at its one place, and wherever it is repeated. The maintainer looks at the changes and commits them.
 */
function prepareVersion(version: string): void {
  const manifest = join(ROOT, 'package.json');
  const text = readFileSync(manifest, 'utf8').replace(/(?<=^ {2}"version": ")[^"]+/m, version);
  writeFileSync(manifest, text);
  for (const [path, content] of generateVersions(version)) writeFileSync(join(ROOT, path), content);
  const today = new Date().toISOString().slice(0, 10);
  writeFileSync(CHANGELOG, released(readFileSync(CHANGELOG, 'utf8'), version, today));
  print(`prepared ${version}: look at \`git diff\`, commit, and run \`npm run release -- ${version}\``);
}

function checkTree(version: string): void {
  const problems: string[] = [];
  const section = newestSection(readFileSync(CHANGELOG, 'utf8'));
  if (packageJson.version !== version) problems.push(`package.json has the version ${packageJson.version}`);
  if (section.version !== version || section.date === undefined)
    problems.push(`the first section of CHANGELOG.md is not "## ${version}, DATE"`);
  for (const [path, content] of generateVersions())
    if (readFileSync(join(ROOT, path), 'utf8') !== content) problems.push(`${path} names another version`);
  if (problems.length > 0)
    throw new ReleaseError(`${problems.join('\n')}\nrun \`npm run release -- ${version} --prepare\`, and commit`);
  if (git('status', '--porcelain') !== '')
    throw new ReleaseError('the checkout has uncommitted files: a release is built from a commit (`git status`)');
  const missing = ['npm', 'rpmbuild', 'strip', 'dpkg-query'].filter((name) => spawnSync(name, ['--version']).error);
  if (missing.length > 0)
    throw new ReleaseError(`missing programs: ${missing.join(', ')} (Debian: npm, rpm, binutils, dpkg)`);
}

async function release({ version, folder, skipsTests, buildsOnce }: Release): Promise<void> {
  if (!skipsTests) {
    step('checks and tests');
    runScript('check');
    runScript('test', '--release');
  }
  const time = sourceTime();
  const prefix = withoutNetwork();
  step(prefix ? 'build without a network' : 'build; this machine permits no namespace without a network');
  const build = (into: string) => buildFiles(into, time, prefix ?? []);
  const files = build(folder);
  if (!buildsOnce) compareWithSecondBuild(folder, files, build);
  step('documents');
  const { name, license } = packageJson;
  const write = (file: string, text: string) => writeFileSync(join(folder, file), text);
  write(`${name}-${version}.cdx.json`, sbom(await allComponents(), { name, version, license, time }));
  write('NOTES.md', `${newestSection(readFileSync(CHANGELOG, 'utf8')).text}\n`);
  const statement = {
    name,
    version,
    files: sumsOf(folder),
    commit: git('rev-parse', 'HEAD'),
    lockfile: sha256(join(ROOT, 'package-lock.json')),
    tests: skipsTests ? ('skipped' as const) : ('passed' as const),
    network: prefix ? ('none' as const) : ('of the machine' as const),
    time,
  };
  write(`${name}-${version}.provenance.json`, provenance(statement));
  write(SUMS, [...sumsOf(folder)].map(([file, sum]) => `${sum}  ${file}\n`).join(''));
  sign(folder);
  print(`${folder} has ${readdirSync(folder).length} files of ${name} ${version}`);
}

/** @throws ReleaseError with the files that differ */
function compareWithSecondBuild(folder: string, files: readonly string[], build: (into: string) => unknown): void {
  step('second build, for the comparison');
  const second = mkdtempSync(join(tmpdir(), 'edgeweave-second-build-'));
  try {
    build(second);
    const differing = files.filter(
      (file) => !readFileSync(join(folder, file)).equals(readFileSync(join(second, file))),
    );
    if (differing.length > 0) throw new ReleaseError(`two builds of this commit differ: ${differing.join(', ')}`);
    print(`both builds have the same bytes in all ${files.length} files`);
  } finally {
    rmSync(second, { recursive: true, force: true });
  }
}

async function allComponents() {
  // The interpreter has the same needs as both executables: each is Node.
  const ours = [readFileSync(process.execPath)];
  const programs = { ...ROUTER_IMAGE.programs, ...SIMULATOR_IMAGE.programs };
  return [...(await componentsOfExecutables()), ...componentsOfImages(process.arch as Processor, programs, ours)];
}

/** RELEASE_SIGN is a command that gets the path of the checksums, for example `gpg --armor --detach-sign`. */
function sign(folder: string): void {
  const command = process.env.RELEASE_SIGN;
  if (!command) return print('not signed: RELEASE_SIGN is not set');
  step('signature');
  const { status } = spawnSync('sh', ['-c', `${command} "$1"`, 'sh', join(folder, SUMS)], { stdio: 'inherit' });
  if (status !== 0) throw new ReleaseError(`RELEASE_SIGN failed with exit code ${status}`);
}

function runScript(...args: string[]): void {
  const { status } = spawnSync(process.execPath, [join(ROOT, 'tools/run.mjs'), ...args], {
    cwd: ROOT,
    stdio: 'inherit',
  });
  if (status !== 0) throw new ReleaseError(`npm run ${args[0]} failed: nothing is released`);
}

/** File → SHA-256, in the order of the names. */
function sumsOf(folder: string): Map<string, string> {
  return new Map(
    readdirSync(folder)
      .sort()
      .map((file) => [file, sha256(join(folder, file))]),
  );
}

function sha256(file: string): string {
  return createHash('sha256').update(readFileSync(file)).digest('hex');
}

function git(...args: string[]): string {
  return execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).trim();
}

function step(name: string): void {
  print(`release: ${name}`);
}
