// The package: the output of `npm pack` works in an empty folder, for its commands, for programs and for the TypeScript
// compiler.

import { execFile, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import t from 'tap';
import { sourceTime } from '../../tools/source-time.ts';
import { differingFiles } from '../support/clients/dashboard-files.ts';
import { RELEASE } from '../support/house/thorough.ts';

const ROOT = join(import.meta.dirname, '../..');
const TOOLS = join(ROOT, 'node_modules', '.bin');
const folder = mkdtempSync(join(tmpdir(), 'edgeweave-test-'));
const consumer = join(folder, 'consumer');
t.teardown(() => rmSync(folder, { recursive: true, force: true }));

/** Puts the Node of this test first: the system's may be older than the package requires. */
const env = { ...process.env, PATH: `${TOOLS}${delimiter}${process.env.PATH}` };
/** tap makes every child process load its modules; an installed package runs without them. */
const withoutTap = (command: string, args: readonly string[]): [string, string[]] => [
  'env',
  ['-u', 'NODE_OPTIONS', command, ...args],
];
const exec = promisify(execFile);
const run = async (command: string, args: readonly string[], cwd: string) =>
  (await exec(...withoutTap(command, args), { cwd, env, maxBuffer: 64 * 1024 * 1024 })).stdout;
const installed = (...path: string[]) => join(consumer, 'node_modules', ...path);

interface Packed {
  readonly filename: string;
  readonly files: readonly { readonly path: string; readonly mode: number }[];
}

t.test('the tarball contains the programs, and no development files', async (t) => {
  const output = await run('npm', ['pack', '--json', '--pack-destination', folder], ROOT);
  const [packed] = JSON.parse(output.slice(output.indexOf('[\n'))) as Packed[];
  const paths = packed?.files.map(({ path }) => path) ?? [];
  for (const wanted of ['package.json', 'README.md', 'LICENSE', 'dist/router.js', 'dist/entry/router.d.ts'])
    t.ok(paths.includes(wanted), wanted);
  const unwanted = paths.filter((path) => /(?<!\.d)\.ts$|\.test\.[jt]s|^(test|tools)\//.test(path));
  t.same(unwanted, []);
  writeFileSync(join(folder, 'package.json'), '{}');
  await run('mkdir', [consumer], folder);
  writeFileSync(join(consumer, 'package.json'), '{"name": "consumer", "private": true, "type": "module"}');
  await run('npm', ['install', '--no-audit', '--no-fund', `../${packed?.filename}`], consumer);
  const lock = JSON.parse(readFileSync(installed('.package-lock.json'), 'utf8')) as {
    packages: Record<string, { hasInstallScript?: boolean; dev?: boolean }>;
  };
  const withScripts = Object.entries(lock.packages).filter(([, { hasInstallScript }]) => hasInstallScript);
  t.same(withScripts, [], 'no install scripts');
  for (const tool of ['typescript', 'tap', 'node', '@biomejs/biome'])
    t.notOk(`node_modules/${tool}` in lock.packages, `${tool} is not installed`);
});

t.test('every link in the documents of the package leads to a file of the package', async (t) => {
  const own = installed('edgeweave');
  const documents = readdirSync(own, { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.md') && !file.includes('node_modules'),
  );
  t.ok(documents.length > 15, documents.join(', '));
  const broken = documents.flatMap((file) =>
    [...readFileSync(join(own, file), 'utf8').matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g)]
      .map(([, target = '']) => join(dirname(file), target))
      .filter((target) => !existsSync(join(own, target)))
      .map((target) => `${file}: ${target}`),
  );
  t.same(broken, []);
});

t.test('both commands run, and an old Node gets one sentence', async (t) => {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
  for (const name of ['edgeweave-router', 'edgeweave-sim'])
    for (const flag of ['--version', '-V'])
      t.equal((await run(installed('.bin', name), [flag], consumer)).trim(), version, `${name} ${flag}`);
  t.match(
    await run(installed('.bin/edgeweave-router'), ['run', '--help'], consumer),
    /\n {2}edgeweave-router run router\.yml\n/,
  );
  for (const name of ['edgeweave-router', 'edgeweave-sim']) {
    const manual = readFileSync(installed('edgeweave/dist/man', `${name}.1`), 'utf8');
    t.match(manual, new RegExp(`^\\.SS ${name.replace('-', '\\\\-')} \\w+`, 'm'));
    t.match(
      await run(installed('.bin', name), ['completion', 'bash'], consumer),
      `complete -F _${name.replace('-', '_')} ${name}\n`,
    );
  }
  const config = ['config', 'init', '--template', 'tunnel-host', '--ctrl', 'tls:c.example:1280'];
  const file = join(consumer, 'example.yml');
  await run(installed('.bin/edgeweave-router'), [...config, '--advertise', 'e.example', '--output', file], consumer);
  await run(installed('.bin/edgeweave-router'), ['config', 'check', file, '--before-enrollment'], consumer);
  const problems = await run(installed('.bin/edgeweave-router'), ['config', 'check', file], consumer).catch(
    ({ stdout }) => stdout,
  );
  t.match(problems, /edgeweave-router enroll FILE --jwt TOKEN_FILE/, 'remedies name the installed command');
  const show = 'process.stderr.write(`${process.execArgv} ${process.env.MALLOC_ARENA_MAX} ${process.pid}\\n`)';
  const report = `--import=data:text/javascript,${encodeURIComponent(show)}`;
  const started = spawn(installed('.bin/edgeweave-router'), ['run', 'missing.yml'], {
    cwd: consumer,
    env: { ...env, NODE_OPTIONS: report, MALLOC_ARENA_MAX: undefined },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  started.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
  t.equal(await new Promise((resolve) => started.once('close', resolve)), 1);
  t.match(said, `--max-semi-space-size=4 1 ${started.pid}\n`, 'memory settings, in the same process');
  t.match(said, /missing\.yml does not exist.*edgeweave-router config init/);
  const simulator = spawn(...withoutTap(installed('.bin/edgeweave-sim'), ['start', '--json']), {
    cwd: consumer,
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const exited = new Promise((resolve) => simulator.once('exit', resolve));
  const [line] = await createInterface({ input: simulator.stdout })
    [Symbol.asyncIterator]()
    .next()
    .then(({ value }) => [JSON.parse(String(value)) as Record<'event' | 'management' | 'dashboard' | 'ca', string>]);
  t.match(line, { event: 'ready', management: /^https:/ });
  t.same(
    await differingFiles(line?.dashboard ?? '', readFileSync(line?.ca ?? '', 'utf8')),
    [],
    'the dashboard is complete',
  );
  simulator.kill('SIGTERM');
  t.equal(await exited, 0);
});

t.test('a Node that is too old gets a sentence from commands and programs', async (t) => {
  const old = `data:text/javascript,${encodeURIComponent('Object.defineProperty(process.versions, "node", { value: "20.9.0" })')}`;
  const sentence = /edgeweave needs Node \d+ or later; this is v[\d.]+ \(.+\)\. In the folder .+ npx uses\.\n/;
  const bin = installed('edgeweave/bin/edgeweave-sim.mjs');
  await t.rejects(run(process.execPath, ['--import', old, bin, 'start'], consumer), {
    code: 1,
    stderr: new RegExp(`^${sentence.source}$`),
  });
  for (const entry of ['router', 'sim']) {
    const load = ['--input-type=module', '-e', `await import('edgeweave/${entry}')`];
    await t.rejects(run(process.execPath, ['--import', old, ...load], consumer), { code: 1, stderr: sentence }, entry);
  }
});

t.test('import and require of an entry give the same', async (t) => {
  const compare = `import { createRequire } from 'node:module';
    const require = createRequire(import.meta.url);
    for (const entry of ['edgeweave/router', 'edgeweave/sim']) {
      const [imported, required] = [await import(entry), require(entry)];
      console.log(Object.keys(required).every((name) => imported[name] === required[name]));
    }`;
  t.equal(await run(process.execPath, ['--input-type=module', '-e', compare], consumer), 'true\ntrue\n');
});

const PROGRAM = `import { writeFileSync } from 'node:fs';
import { startSimulator, type Simulator, type SimulatorOptions } from 'edgeweave/sim';
import { ConfigurationError, checkRouterConfig, createLog, enrollRouter, startRouter } from 'edgeweave/router';

const options: SimulatorOptions = { password: 'secret' };
await using simulator: Simulator = await startSimulator(options);

const { edgeRouters } = simulator.admin;
const { id } = await edgeRouters.create({ name: 'edge', isTunnelerEnabled: true });
const { enrollmentJwt } = await edgeRouters.get(id);
writeFileSync(
  'router.yml',
  \`v: 3
identity: {cert: r.cert, server_cert: r.server.cert, key: r.key, ca: r.cas}
ctrl: {endpoint: "\${simulator.controlAddress}"}
edge: {csr: {sans: {ip: [127.0.0.1]}}}
listeners: [{binding: tunnel, options: {mode: host}}]
\`,
);
const { routerId } = await enrollRouter('router.yml', enrollmentJwt ?? '');
await using router = await startRouter('router.yml', { log: createLog({ level: 'warn' }) });
let isOnline = false;
for (let left = 500; !isOnline && left > 0; left--) {
  await new Promise((resolve) => setTimeout(resolve, 20));
  ({ isOnline } = await edgeRouters.get(id));
}
writeFileSync('broken.yml', 'v: 3\\nctrl: {}\\n');
const { findings } = checkRouterConfig('broken.yml');
const rejected = await startRouter('broken.yml').then(
  () => '',
  (error: unknown) => (error instanceof ConfigurationError ? error.message : String(error)),
);
const { buildDate } = await simulator.admin.call('listVersion');
const isSame = routerId === id && router.id === id;
console.log(JSON.stringify({ isOnline, isSame, findings: findings.length, rejected, buildDate }));
`;

t.test('a program starts a simulator, enrolls a router and runs it', async (t) => {
  writeFileSync(join(consumer, 'program.ts'), PROGRAM);
  const outcome = JSON.parse(await run(process.execPath, ['program.ts'], consumer)) as Record<string, unknown>;
  t.match(outcome, {
    isOnline: true,
    isSame: true,
    buildDate: new Date(sourceTime() * 1_000).toISOString().replace('.000Z', 'Z'),
    rejected: /^broken\.yml is not a valid router configuration\nbroken\.yml:1:1 /,
  });
  t.ok(Number(outcome.findings) > 0);
});

const THREADED_PROGRAM = `import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { startSimulator } from 'edgeweave/sim';
import { createLog, enrollRouter, startRouter } from 'edgeweave/router';

const BYTES = 8 * 1024 * 1024;
await using simulator = await startSimulator();
const { edgeRouters, configTypes, configs, services, servicePolicies, serviceEdgeRouterPolicies } = simulator.admin;
const { id } = await edgeRouters.create({ name: 'threaded', isTunnelerEnabled: true });
const { enrollmentJwt } = await edgeRouters.get(id);
writeFileSync(
  'threaded.yml',
  \`v: 3
identity: {cert: t.cert, server_cert: t.server.cert, key: t.key, ca: t.cas}
ctrl: {endpoint: "\${simulator.controlAddress}"}
edge: {csr: {sans: {ip: [127.0.0.1]}}}
listeners: [{binding: tunnel, options: {mode: proxy, services: []}}]
runtime: {threads: 1}
\`,
);
await enrollRouter('threaded.yml', enrollmentJwt ?? '');
const echo = createServer({ allowHalfOpen: true }, (socket) => void socket.pipe(socket)).listen(0, '127.0.0.1');
await once(echo, 'listening');
const { port } = echo.address() as AddressInfo;
const [type] = await configTypes.list({ filter: 'name="host.v1"' });
const data = { protocol: 'tcp', address: '127.0.0.1', port };
const config = await configs.create({ name: 'echo', configTypeId: type?.id ?? '', data });
const service = await services.create({ name: 'echo', encryptionRequired: true, configs: [config.id] });
const serviceRoles = ['@' + service.id];
const semantic = 'AnyOf';
await serviceEdgeRouterPolicies.create({ name: 'echo', semantic, serviceRoles, edgeRouterRoles: ['#all'] });
for (const type of ['Dial', 'Bind'] as const)
  await servicePolicies.create({ name: type, type, semantic, serviceRoles, identityRoles: ['@' + id] });
await using router = await startRouter('threaded.yml', { log: createLog({ level: 'warn' }) });
const at = await router.openProxy('echo');
while ((await simulator.admin.terminators.list()).length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
const transfer = async () => {
  const socket = connect({ port: at, host: '127.0.0.1', allowHalfOpen: true });
  let bytes = 0;
  socket.on('data', (data) => {
    bytes += data.length;
  });
  socket.end(Buffer.alloc(BYTES, 1));
  await once(socket, 'close');
  return bytes === BYTES;
};
const carried = () => router.describe().threads[0]?.carried ?? 0;
let isWhole = true;
for (let left = 50; isWhole && carried() === 0 && left > 0; left--) isWhole = await transfer(); // the thread starts
console.log(JSON.stringify({ isWhole, isCarried: carried() > 0 }));
echo.close();
`;

t.test('threads of a router that is a library carry clients', async (t) => {
  writeFileSync(join(consumer, 'threaded.ts'), THREADED_PROGRAM);
  t.same(JSON.parse(await run(process.execPath, ['threaded.ts'], consumer)), { isWhole: true, isCarried: true });
});

t.test('the programs of the guides work', async (t) => {
  const guides = join(ROOT, 'docs/guides');
  for (const guide of readdirSync(guides)) {
    const blocks = readFileSync(join(guides, guide), 'utf8').matchAll(/^```ts\n(\/\/ (\S+)\n[\s\S]*?)^```/gm);
    for (const [, program = '', name = ''] of blocks) {
      writeFileSync(join(consumer, name), program);
      await t.resolves(run(process.execPath, ['--test', name], consumer), `${guide}: ${name}`);
    }
  }
});

t.test('the types work with both module resolutions, and reject unknown options and entries', async (t) => {
  writeFileSync(
    join(consumer, 'wrong.ts'),
    `import { startSimulator } from 'edgeweave/sim';
// @ts-expect-error no such option
await startSimulator({ pasword: 'x' });
await using simulator = await startSimulator();
// @ts-expect-error no such field
await simulator.admin.services.create({ nmae: 'x', encryptionRequired: true });
export const strategy: string = (await simulator.admin.services.get('id')).terminatorStrategy;
// @ts-expect-error no such entry
import 'edgeweave/dist/entry/router.js';
`,
  );
  for (const moduleResolution of ['node16', 'bundler', ...(RELEASE ? ['nodenext'] : [])]) {
    const compilerOptions = {
      module: moduleResolution === 'bundler' ? 'esnext' : moduleResolution,
      moduleResolution,
      strict: true,
      noEmit: true,
      target: 'esnext',
      skipLibCheck: false,
      types: ['node'],
      typeRoots: [join(ROOT, 'node_modules', '@types')],
    };
    writeFileSync(
      join(consumer, 'tsconfig.json'),
      JSON.stringify({ compilerOptions, files: ['program.ts', 'wrong.ts'] }),
    );
    const said = await run(join(TOOLS, 'tsc'), ['--project', '.'], consumer).catch(
      ({ stdout }: { stdout: string }) => stdout,
    );
    t.equal(said, '', moduleResolution);
  }
});
