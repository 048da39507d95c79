// The commands of the router, run as by a user.

import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rootCertificates } from 'node:tls';
import t from 'tap';
import { ownArguments } from '../../agent/bootstrap/run-arguments.ts';
import { routerProgram } from '../../agent/commands/program.ts';
import { loadApart } from '../../agent/config/load-apart.ts';
import { webServer } from '../support/config/link-config.ts';
import { fixedPorts } from '../support/networks/fixed-ports.ts';
import { Overlay } from '../support/networks/overlay.ts';
import { runCommand } from '../support/programs/command.ts';
import { runProgram } from '../support/programs/run.ts';
import { until } from '../support/until.ts';

const directory = mkdtempSync(join(tmpdir(), 'edgeweave-test-'));
const router = (...args: string[]) => runProgram(['entry/router-cli.ts', ...args]);
/** The same in this process. */
const command = (...args: string[]) => runCommand(routerProgram, ownArguments(args));

const GOOD = join(directory, 'good.yml');
const BAD = join(directory, 'bad.yml');
/** An authority that signed none of the certificates. */
const STRANGER = join(directory, 'stranger.pem');
writeFileSync(STRANGER, rootCertificates[0] ?? '');
writeFileSync(GOOD, 'v: 3\nidentity: {cert: a, key: b, ca: c}\nctrl: {endpoint: "tls:c.example:6262"}\n');
writeFileSync(BAD, 'v: 3\nidentity: {cert: a, key: b, ca: c}\nctrl: {endpoint: "c.example"}\nforwader: {}\n');

t.test('config check accepts several files; ok is false exactly if the router would not start', async (t) => {
  const { code, stdout } = await router('config', 'check', GOOD, BAD, '--before-enrollment', '--format', 'json');
  t.equal(code, 1);
  const [good, bad] = JSON.parse(stdout);
  t.equal(good.ok, true);
  t.equal(bad.ok, false);
  t.equal(bad.file, BAD);
  t.match(
    bad.findings.find((each: { code: string }) => each.code === 'CFG-ADDRESS'),
    { severity: 'error', path: 'ctrl.endpoint', line: 3, column: Number, message: String, hint: String },
  );
  t.equal((await router('config', 'check', GOOD, '--before-enrollment')).code, 0);
});

t.test('missing identity files are an error with a remedy', async (t) => {
  const { code, stdout } = await router('config', 'check', GOOD, '--format', 'json');
  t.equal(code, 1);
  const [checked] = JSON.parse(stdout);
  const findings = checked.findings.filter((each: { code: string }) => each.code === 'CFG-NOT-ENROLLED');
  t.match(findings, [
    { severity: 'error', path: 'identity', message: /^these files do not exist: .+, .+/, hint: /enroll/ },
  ]);
  t.equal(findings.length, 1, 'one for all of them');
});

t.test('findings quote the text of the file and suggest a correction', async (t) => {
  const file = join(directory, 'quoted.yml');
  const lines = [readFileSync(GOOD, 'utf8').trimEnd(), 'forwarder: {faultTxInterval: 1m, idleTxInterval: yes}'];
  writeFileSync(file, `${lines.join('\n')}\n`);
  const { code, stdout } = await router('config', 'check', file, '--before-enrollment');
  t.equal(code, 1);
  t.match(stdout, /found the string "1m"\n +the unit is milliseconds: write 60000\n/);
  t.match(stdout, /expected a whole number, found yes, which means true\n/);
});

t.test('config check reads standard input', async (t) => {
  const check = (text: string) => {
    const args = [
      join(import.meta.dirname, '../../entry/router-cli.ts'),
      'config',
      'check',
      '-',
      '--before-enrollment',
    ];
    return spawnSync(process.execPath, args, { input: text, encoding: 'utf8' });
  };
  t.match(check(readFileSync(GOOD, 'utf8')), { status: 0, stdout: /^standard input: ok/m });
  t.match(check(readFileSync(BAD, 'utf8')), { status: 1, stdout: /^standard input:3:\d+ error CFG-ADDRESS/m });
  t.match(check(`# ${'x'.repeat(2 * 1024 * 1024)}\n`), { status: 1, stdout: /; the limit is \d+/ });
  t.match(check(''), { status: 1, stdout: /CFG-EMPTY/ });
});

t.test('identity files in another folder, readable for others, or signed by no configured authority', async (t) => {
  await using overlay = await Overlay.start();
  const { configFile } = await overlay.enrollRouter({ name: 'a' });
  t.notMatch((await router('config', 'check', configFile)).stdout, /CFG-IDENTITY|CFG-NOT-ENROLLED/);
  const relative = join(overlay.directory, 'relative.yml');
  const text = readFileSync(configFile, 'utf8');
  writeFileSync(relative, text.replaceAll(`${overlay.directory}/`, ''));
  const elsewhere = await router('config', 'check', relative);
  t.equal(elsewhere.code, 1);
  const beside = join(overlay.directory, 'a.key');
  t.match(elsewhere.stdout, `a.key does not exist: ${join(process.cwd(), 'a.key')}`);
  t.match(
    elsewhere.stdout,
    `but ${beside} exists: start the router in ${overlay.directory}, or write the absolute path`,
  );
  chmodSync(beside, 0o640);
  const open = await router('config', 'check', configFile);
  t.equal(open.code, 0);
  t.match(open.stdout, `other users can read or change the private key ${beside} (mode 0640)`);
  chmodSync(beside, 0o600);
  writeFileSync(configFile, text.replace(/"ca":"[^"]*a\.ca"/, `"ca":"${STRANGER}"`));
  const foreign = await router('config', 'check', configFile);
  t.match(foreign.stdout, /warning CFG-IDENTITY identity\.cert: it is not signed by an authority of identity\.ca: /);
});

t.test('the summary counts findings', async (t) => {
  const { stdout } = await router('config', 'check', GOOD);
  t.match(stdout, /the router would not start \(\d+ errors?, \d+ warnings?\)/);
  const file = join(directory, 'one.yml');
  writeFileSync(file, `${readFileSync(GOOD, 'utf8').trimEnd()}\nforwarder: {idleTxInterval: x}\n`);
  t.match((await router('config', 'check', file, '--before-enrollment')).stdout, /\(1 error, \d+ warnings?\)/);
});

t.test('findings as SARIF and as text', async (t) => {
  const sarif = JSON.parse((await router('config', 'check', BAD, '--format', 'sarif')).stdout);
  t.equal(sarif.version, '2.1.0');
  t.ok(sarif.runs[0].results.every((each: { ruleId: string }) => each.ruleId.startsWith('CFG-')));
  const text = (await router('config', 'check', BAD)).stdout;
  t.match(text, new RegExp(`${BAD}:3:\\d+ error CFG-ADDRESS ctrl\\.endpoint`));
  t.match(text, /did you mean|forwarder/);
});

t.test('config effective names the source of each value and hides keys', async (t) => {
  const secret = join(directory, 'secret.yml');
  writeFileSync(
    secret,
    readFileSync(GOOD, 'utf8')
      .replace('key: b', 'key: "pem:-----BEGIN PRIVATE KEY-----abc"')
      .replace('c.example', '$CTRL_HOST'),
  );
  const { code, stdout } = await runProgram(
    ['entry/router-cli.ts', 'config', 'effective', secret, '--format', 'json'],
    {
      env: { CTRL_HOST: 'from.env' },
    },
  );
  t.equal(code, 0);
  const values = JSON.parse(stdout);
  t.equal(values['ctrl.endpoint'].source, 'environment');
  t.equal(values['forwarder.linkDialWorkerCount'].source, 'default');
  t.equal(values.v.source, 'given');
  t.notMatch(stdout, /abc/);
});

t.test('config init writes a file that passes, and never overwrites by accident', async (t) => {
  const file = join(directory, 'init.yml');
  t.equal((await router('config', 'init', '--template', 'edge', '--output', file)).code, 0);
  t.equal((await router('config', 'check', file, '--before-enrollment')).code, 0);
  t.match(
    readFileSync(file, 'utf8'),
    `cert: '${join(directory, 'router.cert')}'`,
    'identity files are beside the configuration',
  );
  const again = await router('config', 'init', '--output', file);
  t.equal(again.code, 1);
  t.match(again.stderr, /--force/);
  const nowhere = await router('config', 'init', '--output', join(directory, 'nowhere', 'x.yml'));
  t.equal(nowhere.code, 1);
  t.match(
    nowhere.stderr,
    /nowhere\/x\.yml cannot be written: the folder .*nowhere does not exist; create it or .*--output\n$/,
  );
  if (existsSync('/dev/full'))
    t.match(await router('config', 'init', '--output', '/dev/full', '--force'), {
      code: 1,
      stderr:
        /^\/dev\/full cannot be written: the disk is full; free space on the disk of \/dev, or pass another --output\n$/,
    });
  const folder = await router('config', 'init', '--output', directory);
  t.match(
    [folder.code, folder.stderr],
    [1, /cannot be written: .* is a folder; name a file or pass another --output\n$/],
  );
});

t.test('wrong usage is exit code 2 with a hint; help has examples', async (t) => {
  const table: [string[], RegExp][] = [
    [['confg'], /config|unknown command/],
    [['config', 'check'], /missing required argument/],
    [['config', 'check', GOOD, '--format', 'xml'], /text, json, sarif|Allowed choices/],
    [['config', 'explain', 'forwarder.linkDialQueueLenght'], /did you mean forwarder\.linkDialQueueLength/],
    [['config', 'explain', '__proto__'], /unknown key __proto__; a file has the keys v, .*link/],
    [['config', 'explain', 'forwarder.x'], /unknown key forwarder\.x; forwarder has the keys .*linkDialQueueLength/],
    [['enroll', GOOD], /--jwt/],
    [['enroll', GOOD, '--jwt', GOOD, '--key-alg', 'DSA'], /Allowed choices are RSA, EC/],
    [['profile', GOOD, 'cpu', '--seconds', '601'], /from 0\.1 to 600/],
    [['drain', GOOD, '--seconds', '-1'], /from 0 to 86400/],
    [['health', 'not a url'], /neither a URL nor a file: not a url does not exist/],
    [['health', 'a'.repeat(300)], /neither a URL nor a file: a.* is too long for the name of a file/],
    [['config', 'init', '--template', 'castle'], /minimal/],
    [['config', 'init', '--ctrl', ''], /for example tls:controller\.example:6262/],
    [['config', 'init', '--ctrl', 'foo'], /expected type:host:port\. Write tls:HOST:PORT/],
    [['config', 'init', '--ctrl', 'tls:a:99999'], /port 99999 is above 65535\. Write tls:HOST:PORT/],
    [['config', 'init', '--ctrl', 'udp:a:1'], /not udp\. Write tls:HOST:PORT/],
    [['config', 'init', '--ctrl', 'tls::1'], /host and port of the controller are required/],
    [['config', 'init', '--advertise', ''], /host name or an IP address/],
    [['config', 'init', '--advertise', 'foo bar'], /host name or an IP address/],
    [['config', 'init', '--advertise', 'x]\nfoo: bar'], /host name or an IP address/],
    [['config', 'init', '--advertise', 'edge.example:3022'], /without a port, for example edge\.example\./],
    [['config', 'init', '--advertise', '[::1]:80'], /without a port, for example ::1\./],
  ];
  for (const [args, text] of table) {
    const { code, stderr } = await command(...args);
    t.equal(code, 2, args.join(' '));
    t.match(stderr, text, args.join(' '));
  }
  t.match(await router('inspect', 'a'.repeat(300)), {
    code: 1,
    stderr: /is too long for the name of a file; pass the configuration file of a running router/,
  });
  t.match(await router('confg'), { code: 2, stdout: '', stderr: /config|unknown command/ });
  for (const name of [
    ['run'],
    ['enroll'],
    ['health'],
    ['inspect'],
    ['drain'],
    ['log-level'],
    ['memory'],
    ['profile'],
    ['decommission'],
    ['config', 'check'],
    ['config', 'effective'],
    ['config', 'explain'],
    ['config', 'init'],
  ]) {
    const { code, stdout } = await command(...name, '--help');
    t.equal(code, 0);
    t.match(stdout, /Examples?:\n {2}router /, name.join(' '));
  }
  t.match(await router('run', '--help'), { code: 0, stdout: /Examples?:\n {2}router /, stderr: '' });
});

t.test('a missing configuration file, or an empty name, is reported', async (t) => {
  for (const [file, text] of [
    ['', /^'':1:1 error CFG-FILE the name of the file is empty\n +pass the path/],
    [join(directory, 'nowhere.yml'), /error CFG-FILE .*nowhere\.yml does not exist\n +`router config init/],
  ] as const) {
    const { code, stdout } = await router('config', 'check', file);
    t.equal(code, 1);
    t.match(stdout, text);
  }
});

t.test('run rejects the same configurations as check, with the same findings, before it opens any port', async (t) => {
  const { code, stderr } = await router('run', BAD);
  t.equal(code, 1);
  t.match(stderr, /CFG-ADDRESS/);
  t.notMatch(stderr, /\bat .*\.ts:\d+/);
});

t.test('run and enroll accept the options of the reference', async (t) => {
  const run = await router(
    'run',
    '-e',
    BAD,
    '-v',
    '--log-formatter',
    'pfxlog',
    '--cli-agent-alias',
    'edge',
    '--debug-ops',
  );
  t.equal(run.code, 1);
  t.match(run.stderr, /^\S+ ERROR configuration finding .*CFG-ADDRESS/m, 'text instead of JSON');
  const enroll = await router('enroll', GOOD, '-j', join(directory, 'missing.jwt'), '--keyAlg', 'EC', '-v');
  t.equal(enroll.code, 1);
  t.match(enroll.stderr, /missing\.jwt/);
});

t.test('a router without a controller exits after its startup timeout', async (t) => {
  await using overlay = await Overlay.start();
  const { configFile } = await overlay.enrollRouter({ name: 'a', mode: 'host' });
  await overlay.simulator.close();
  writeFileSync(configFile, readFileSync(configFile, 'utf8').replace('ctrl: {', 'ctrl: {startupTimeout: 500ms, '));
  const { code, stderr } = await router('run', configFile);
  t.equal(code, 1);
  t.match(stderr, /no controller could be reached within 500 ms/);
});

t.test('health and inspect query a running router', async (t) => {
  await using overlay = await Overlay.start();
  const [port = 0] = await fixedPorts(1);
  const extra = {
    healthChecks: { ctrlPingCheck: { interval: '1s', initialDelay: '10ms' } },
    web: [webServer(port, 'health-checks'), webServer(0, 'metrics')],
  };
  const a = await overlay.addRouter({ name: 'a', mode: 'host', extra });
  const metricsPort = a.ports.web[1];
  const url = `https://127.0.0.1:${port}`;
  const ca = join(overlay.directory, 'a.ca');
  await until('health', async () => (await command('health', url, '--ca', ca)).code === 0);
  const { stdout } = await router('health', url, '--ca', ca);
  t.match(stdout, /ok +controllerPing/);
  const failures: [string[], RegExp][] = [
    [[url], /unknown authority; .*--ca FILE.*--insecure/],
    [[url, '--ca', GOOD], /good\.yml contains no certificate/],
    [[url, '--ca', join(directory, 'nowhere')], /file of --ca cannot be read/],
    [[url, '--ca', STRANGER], /not signed by an authority in .*stranger\.pem/],
    [[`https://127.0.0.1:${a.linkPort}`], /serves TLS, but no HTTP; use the port of a web section/],
    [[`https://127.0.0.1:${overlay.echo.port}`], /does not serve TLS; use the port of a web section/],
    [[`https://127.0.0.1:${metricsPort}`, '--ca', ca], /not with health checks; use the port of a web section/],
    [[`http://127.0.0.1:${port}`], /served over https/],
    [['https://127.0.0.1:1'], /nothing listens there; start the router/],
  ];
  for (const [args, text] of failures) {
    const failed = await command('health', ...args);
    t.equal(failed.code, 1, args.join(' '));
    t.match(failed.stderr, text, args.join(' '));
    t.equal(failed.stderr.trim().split('\n').length, 1, failed.stderr);
  }
  t.equal((await router('health', url, '--insecure')).code, 0);
  t.match(
    await router('health', a.configFile),
    { code: 0, stdout: /ok +controllerPing/ },
    'its file names address and identity',
  );
  t.match((await router('health', GOOD)).stderr, /not there yet|enroll/);
  t.match(
    (await router('health', a.configFile, '--ca', STRANGER)).stderr,
    /not signed by an authority in .*stranger\.pem/,
  );
  const inspected = await router('inspect', a.configFile, '--json');
  t.equal(inspected.code, 0, inspected.stderr);
  t.match(JSON.parse(inspected.stdout), { id: a.id, controllers: [{ isResponsive: true }], links: [] });
  t.match(
    (await router('inspect', GOOD)).stderr,
    /^no router is running with .*good\.yml(?: under this user; if another user .* as root|; one in a service with .* unit)\n$/,
  );
  t.match((await router('inspect', '/no/such.yml')).stderr, /^\/no\/such\.yml does not exist; /);
  t.match((await router('inspect', a.configFile)).stdout, new RegExp(a.id.replaceAll('.', '\\.')));
});

t.test('without a web section, health asks the router on this machine', async (t) => {
  await using overlay = await Overlay.start();
  const extra = { healthChecks: { ctrlPingCheck: { interval: '100ms', initialDelay: '10ms' } } };
  const { configFile } = await overlay.enrollRouter({ name: 'a', mode: 'host', extra });
  const stopped = await router('health', configFile);
  t.match([stopped.code, stopped.stderr], [1, /^no router is running with /]);
  const running = await overlay.startRouter(configFile);
  await until('health', async () => (await command('health', configFile)).code === 0);
  t.match((await router('health', configFile)).stdout, /^ok +controllerPing\nok +link\.health\n$/);
  t.match(JSON.parse((await router('health', configFile, '--json')).stdout), { data: { healthy: true }, meta: {} });
  const text = readFileSync(configFile, 'utf8');
  writeFileSync(configFile, text.replace(/"cert":"[^"]*"/, '"cert":"of-another-folder.cert"'));
  t.equal((await router('health', configFile)).code, 0, 'its paths may start in the folder of the router');
  await overlay.simulator.close();
  await until('its failure', async () => (await command('health', configFile)).code === 1);
  t.match(
    (await router('health', configFile)).stdout,
    /^failed controllerPing: not connected to a controller for \d+ s\n/,
  );
  await running.close({ drain: 0 });
});

t.test('findings name the command as the user called it', async (t) => {
  const before = process.argv[1] ?? '';
  t.teardown(() => {
    process.argv[1] = before;
  });
  process.argv[1] = '/usr/bin/edgeweave-router';
  const { findings } = await loadApart(join(directory, 'nowhere.yml'));
  t.match(findings, [{ code: 'CFG-FILE', hint: /^`edgeweave-router config init --output FILE` writes/ }]);
  const missing = await loadApart(GOOD);
  t.ok(missing.findings.some(({ hint }) => hint.includes('edgeweave-router enroll FILE')));
});

t.test(
  'signals to the process group of a router do not end the check of its configuration',
  { skip: process.platform === 'linux' ? false : 'reads /proc' },
  async (t) => {
    const loading = loadApart(GOOD);
    const statOf = (pid: string) =>
      readFileSync(`/proc/${pid}/stat`, 'utf8')
        .replace(/^.*\) /s, '')
        .split(' ');
    const [, , ownGroup] = statOf('self');
    const children = readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').trim().split(' ');
    const groups = children.map((pid) => statOf(pid)[2]);
    t.ok(groups.length > 0);
    t.notOk(groups.includes(ownGroup), 'Ctrl-C in a terminal reaches the router only');
    await loading;
  },
);

t.test('version prints the version of the package', async (t) => {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  t.equal((await router('version')).stdout.trim(), version);
  t.ok(existsSync(GOOD));
});

t.test('a reader that closes the pipe, like head, causes no error', async (t) => {
  for (const args of [
    ['entry/router-cli.ts', 'config', 'explain'],
    ['entry/router-cli.ts', 'run', '--help'],
  ])
    t.match(await runProgram(args, { isDeaf: true }), { code: 0, stderr: '' }, args.join(' '));
});
