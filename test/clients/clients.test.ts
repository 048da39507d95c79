// The clients for other languages, and the tests of their guide, with the tools of each language if they are installed.

import { execFile, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { RELEASE } from '../support/house/thorough.ts';

const ROOT = join(import.meta.dirname, '../..');
const CLIENTS = join(ROOT, 'clients');
const GUIDE = readFileSync(join(ROOT, 'docs/guides/test-in-other-languages.md'), 'utf8');
/** Milliseconds: compilers may be cold. */
const PATIENCE = 240_000;
/** Compilers without their caches take minutes of a core. */
const COMPILED = !RELEASE && 'clients of compiled languages: only with --release';
/** Maven has neither the packages nor access to them. */
const UNREACHABLE = /Could not (?:transfer|resolve|find)|Unresolvable|offline mode/;
const GO_MODULE = 'module sessions\n\ngo 1.21\n\nrequire edgeweave v0.0.0\n\nreplace edgeweave => ./edgeweave\n';

t.setTimeout(4 * PATIENCE);

const folder = mkdtempSync(join(tmpdir(), 'edgeweave-test-'));
t.teardown(() => rmSync(folder, { recursive: true, force: true }));
/** The executable for the clients: the program from its sources. */
const program = join(folder, 'edgeweave-sim');
writeFileSync(program, `#!/bin/sh\nexec ${process.execPath} ${join(ROOT, 'entry/sim-cli.ts')} "$@"\n`, {
  mode: 0o755,
});
const env = {
  ...process.env,
  NODE_OPTIONS: '',
  EDGEWEAVE_SIM: program,
  EDGEWEAVE_SIM_READY: '',
  CLIENTS,
  PYTHONDONTWRITEBYTECODE: '1',
  PYTHONPATH: join(CLIENTS, 'python'),
  GOFLAGS: '-count=1',
  GOTOOLCHAIN: 'local',
};

/** Rejects with the output of a command that fails. */
async function run(cwd: string, command: string, ...args: string[]): Promise<void> {
  try {
    await promisify(execFile)(command, args, { cwd, env });
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    throw new Error(`${command} ${args.join(' ')}\n${stdout}${stderr}`);
  }
}

/** False, or the reason for which a language is skipped. */
function without(command: string, ...args: string[]): string | false {
  return spawnSync(command, args, { env }).status !== 0 && `${command} ${args.join(' ')} does not work here`;
}

/** The block of the guide in a language that contains a text; default: the first one. */
function example(language: string, text = ''): string {
  const blocks = [...GUIDE.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, 'gm'))].map(
    ([, block = '']) => block,
  );
  const found = blocks.find((block) => block.includes(text));
  if (found === undefined) throw new Error(`the guide has no block ${language} with ${text}`);
  return found;
}

function exampleFolder(name: string, file: string, text: string): string {
  const own = mkdtempSync(join(folder, `${name}-`));
  writeFileSync(join(own, file), text);
  return own;
}

/** A dependency in `pom.xml`. */
const CLIENT_DEPENDENCY = /<dependency>\s*<groupId>edgeweave<[\s\S]*?<\/dependency>/;
const PYTEST = ['-m', 'pytest', '-q', '-p', 'no:cacheprovider', '-p', 'edgeweave.pytest_plugin'];

t.test('Python', { timeout: PATIENCE, skip: without('python3', '-m', 'pytest', '--version') }, async (t) => {
  await t.resolves(run(join(CLIENTS, 'python'), 'python3', '-m', 'pytest', '-q', '-p', 'no:cacheprovider'));
  await t.resolves(run(exampleFolder('python', 'test_sessions.py', example('python')), 'python3', ...PYTEST));
});

const BUILT = without('python3', '-c', 'import flit_core, pip');

t.test('the package for Python is built in its folder, and leaves nothing there', { skip: BUILT }, async (t) => {
  const own = join(folder, 'python-package');
  cpSync(join(CLIENTS, 'python'), own, { recursive: true });
  const files = () => readdirSync(own, { recursive: true }).sort();
  const before = files();
  const build = ['-m', 'pip', 'wheel', '--no-build-isolation', '--no-deps', '--wheel-dir', folder, own];
  const { status, stdout, stderr } = spawnSync('python3', build, { env, encoding: 'utf8' });
  t.equal(status, 0, stderr);
  t.notMatch(`${stdout}${stderr}`, /warning|deprecat/i);
  t.same(files(), before);
});

t.test('Python with its SDK', { timeout: PATIENCE, skip: !RELEASE && 'SDKs: only with --release' }, async (t) => {
  const own = exampleFolder('python-sdk', 'test_recovery.py', example('python', 'test_recovery.py'));
  await run(own, 'python3', '-m', 'venv', 'venv');
  const packages = ['--quiet', '--only-binary', ':all:', 'pytest', 'openziti'];
  await t.resolves(run(own, 'venv/bin/python', '-m', 'pip', 'install', ...packages));
  await t.resolves(run(own, 'venv/bin/python', ...PYTEST));
});

t.test('Go', { timeout: PATIENCE, skip: COMPILED || without('go', 'version') }, async (t) => {
  await t.resolves(run(join(CLIENTS, 'go'), 'go', 'vet', './...'));
  await t.resolves(run(join(CLIENTS, 'go'), 'go', 'test', './...'));
  const own = exampleFolder('go', 'sessions_test.go', example('go'));
  cpSync(join(CLIENTS, 'go'), join(own, 'edgeweave'), { recursive: true });
  writeFileSync(join(own, 'go.mod'), GO_MODULE);
  await t.resolves(run(own, 'go', 'test', '.'));
  writeFileSync(
    join(own, 'recovery_test.go'),
    example('go', 'recovery_test.go').replace('package recovery', 'package sessions'),
  );
  writeFileSync(
    join(own, 'go.mod'),
    `${GO_MODULE}\nrequire github.com/openziti/sdk-golang v1.7.0\n`.replace('go 1.21', 'go 1.25'),
  );
  await t.resolves(run(own, 'go', 'mod', 'tidy'));
  await t.resolves(run(own, 'go', 'test', '.'));
});

t.test('Java', { timeout: PATIENCE, skip: COMPILED || without('mvn', '--version') }, async (t) => {
  const own = join(folder, 'java');
  cpSync(join(CLIENTS, 'java'), own, { recursive: true });
  const { status, stdout } = spawnSync('mvn', ['-q', '-B', 'test'], { cwd: own, env, encoding: 'utf8' });
  if (status !== 0 && UNREACHABLE.test(stdout)) {
    t.pass('Maven cannot fetch JUnit', { skip: 'Maven cannot fetch JUnit' });
    return;
  }
  t.equal(status, 0, stdout);
  // The project of the guide, with the sources of the client instead of its installed archive.
  const project = exampleFolder('java', 'pom.xml', example('xml').replace(CLIENT_DEPENDENCY, ''));
  cpSync(join(CLIENTS, 'java/src/main/java'), join(project, 'src/test/java'), { recursive: true });
  writeFileSync(join(project, 'src/test/java/SessionsTest.java'), example('java'));
  await t.resolves(run(project, 'mvn', '-q', '-B', 'test'));
  const withSdk = example('xml')
    .replace(CLIENT_DEPENDENCY, '')
    .replace('</dependencies>', `${example('xml', 'org.openziti')}</dependencies>`)
    .replace('</plugin>', `${example('xml', 'argLine')}</plugin>`);
  writeFileSync(join(project, 'pom.xml'), withSdk);
  writeFileSync(join(project, 'src/test/java/RecoveryTest.java'), example('java', 'RecoveryTest'));
  await t.resolves(run(project, 'mvn', '-q', '-B', 'test'));
});

t.test('shells', { timeout: PATIENCE, skip: process.platform === 'win32' && 'there is no sh' }, async (t) => {
  await t.resolves(run(folder, 'sh', join(CLIENTS, 'shell/test.sh')));
  if (RELEASE && !without('bash', '--version')) await t.resolves(run(folder, 'bash', join(CLIENTS, 'shell/test.sh')));
  await t.resolves(run(exampleFolder('shell', 'test.sh', example('shell')), 'sh', '-eu', 'test.sh'));
  const recovery = exampleFolder('recovery', 'test_recovery.sh', example('shell', 'test_recovery.sh'));
  await t.resolves(run(recovery, 'sh', '-eu', 'test_recovery.sh'));
});
