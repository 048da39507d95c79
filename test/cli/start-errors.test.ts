// Obstacles to a router's start: ports in use, certificates that cannot be renewed, a second router with the same
// certificate. Each message has the configuration key, the reason and the remedy. Unsupported parts of the
// configuration are logged.

import { spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { fstatSync, ftruncateSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import { createLog } from '#lib/log/log.ts';
import { seededRandom } from '#lib/random.ts';
import { VirtualClock } from '#lib/time/clock.ts';
import { HelloRejectedError } from '#wire/errors.ts';
import { loadRouterConfig } from '../../agent/config/load.ts';
import type { Controller } from '../../agent/control/controller.ts';
import { ControllerDialer } from '../../agent/control/controller-dialer.ts';
import { startRouter } from '../../entry/router.ts';
import { edgeListener, linkListener, webServer } from '../support/config/link-config.ts';
import { CLOSED_PORT } from '../support/networks/fixed-ports.ts';
import { Overlay, type RouterSetup } from '../support/networks/overlay.ts';
import { portsOf } from '../support/networks/router-ports.ts';
import { runProgram } from '../support/programs/run.ts';
import { until } from '../support/until.ts';

t.test('unsupported listeners and dialers are logged once at the start, and not opened', async (t) => {
  await using overlay = await Overlay.start();
  const { configFile } = await overlay.enrollRouter({
    name: 'a',
    mode: 'host',
    link: { listeners: [{ bind: `dtls:127.0.0.1:${CLOSED_PORT}`, advertise: `dtls:127.0.0.1:${CLOSED_PORT}` }] },
    extra: { dialers: [{ binding: 'pigeon' }] },
  });
  const lines: string[] = [];
  const log = createLog({ write: (line) => void lines.push(line) });
  await using _ = await startRouter(configFile, { log });
  const logged = lines
    .map((line) => JSON.parse(line))
    .filter(({ code }) => code === 'CFG-UNSUPPORTED')
    .map(({ key }) => key);
  t.same(logged, ['link.listeners[0].bind', 'dialers[0].binding']);
  await t.rejects(once(connect(CLOSED_PORT, '127.0.0.1'), 'connect'), { code: 'ECONNREFUSED' });
});

t.test(
  'a second router with the same certificate logs the likely reason and the remedy, and so does the first',
  async (t) => {
    await using overlay = await Overlay.start();
    const { configFile } = await overlay.enrollRouter({ name: 'a', mode: 'host', link: { dialers: [] } });
    const logs = [[], []] as Record<string, string>[][];
    const logTo = (lines: Record<string, string>[]) =>
      createLog({ write: (line) => void lines.push(JSON.parse(line)) });
    const found = (lines: Record<string, string>[], msg: string) => lines.find((line) => line.msg === msg);
    const [firstLog = [], secondLog = []] = logs;
    await using first = await overlay.startRouter(configFile, { log: logTo(firstLog) });
    await until('the first router to connect', () => found(firstLog, 'controller connected') !== undefined);
    await using second = await overlay.startRouter(configFile, { log: logTo(secondLog) });
    t.equal(second.id, first.id);
    await until(
      'the second one to be rejected',
      () => found(secondLog, 'controller rejects this router') !== undefined,
    );
    t.match(found(secondLog, 'controller rejects this router'), {
      likely: /another router with the same certificate is connected/,
      remedy: /stop the other router, or enroll this one again/,
    });
    t.notOk(found(firstLog, 'controller disconnected'), 'the first one continues');
  },
);

t.test('an edge listener logs that it is open', async (t) => {
  await using overlay = await Overlay.start();
  const options = { advertise: 'localhost:0' };
  const listeners = [{ binding: 'edge', address: 'tls:127.0.0.1:0', options }] as const;
  const { configFile } = await overlay.enrollRouter({ name: 'a', mode: 'host', listeners });
  const lines: string[] = [];
  await using router = await startRouter(configFile, { log: createLog({ write: (line) => void lines.push(line) }) });
  const {
    sdk: [port],
  } = portsOf(router.describe());
  const [opened] = lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'edge listener open');
  t.match(opened, { level: 'info', address: `tls:127.0.0.1:${port}`, advertise: `localhost:${port}` });
});

t.test('findings at the start are log lines, in each format and in the log file', async (t) => {
  await using overlay = await Overlay.start();
  const configFile = overlay.writeConfig({ name: 'a', extra: { forwarder: { latencyProbeInterval: 5 } } });
  const text = readFileSync(configFile, 'utf8').replace(/ctrl: .*/, 'ctrl: {endpoint: "nope"}');
  writeFileSync(configFile, text);
  const line = text.split('\n').findIndex((each) => each.startsWith('ctrl:')) + 1;
  const invalid = {
    level: 'error',
    code: 'CFG-ADDRESS',
    file: configFile,
    line,
    key: 'ctrl.endpoint',
    reason: /expected type:host:port/,
    remedy: /^expected an address, for example tls:host:6262/,
    msg: 'configuration finding',
  };
  const ignored = { level: 'warn', code: 'CFG-IGNORED', key: 'forwarder.latencyProbeInterval' };
  const end = { level: 'fatal', config: configFile, errors: 1, msg: /^router cannot start/ };
  const parsed = (lines: string) =>
    lines
      .trimEnd()
      .split('\n')
      .map((each) => JSON.parse(each));
  const run = (...more: string[]) => runProgram(['entry/router-cli.ts', 'run', configFile, ...more]);

  const json = await run();
  t.equal(json.code, 1);
  t.match(parsed(json.stderr), [invalid, ignored, end]);
  const plain = await run('--log-format', 'text');
  t.match(
    plain.stderr.split('\n')[0],
    /ERROR configuration finding code=CFG-ADDRESS file=\S+ line=\d+ .* remedy=expected/,
  );
  const log = join(overlay.directory, 'router.log');
  const toFile = await run('--log-file', log);
  t.match([toFile.code, toFile.stderr], [1, '']);
  t.match(parsed(readFileSync(log, 'utf8')), [invalid, ignored, end]);
  const misused = await run('--log-file', join(overlay.directory, 'a.key'));
  t.match([misused.code, misused.stderr], [2, /a\.key is also the file of identity\.key/], 'also of an invalid file');

  const journal = join(overlay.directory, 'journal');
  const output = openSync(journal, 'w');
  const { dev, ino } = fstatSync(output, { bigint: true });
  const environment = { ...process.env, JOURNAL_STREAM: `${dev}:${ino}` };
  const written = async (...args: string[]) => {
    ftruncateSync(output);
    const child = spawn('env', ['-u', 'NODE_OPTIONS', process.execPath, 'entry/router-cli.ts', ...args], {
      stdio: ['ignore', 'ignore', output],
      env: environment,
    });
    await once(child, 'close');
    return readFileSync(journal, 'utf8').replaceAll('\0', '').trimEnd().split('\n');
  };
  t.match(await written('run', configFile), [/^<3>\{/, /^<4>\{/, /^<2>\{/]);
  t.match(await written('run', join(overlay.directory, 'nowhere.yml')), [/^<3>.*"CFG-FILE"/, /^<2>/]);
  t.match(await written('enroll', 'nowhere.yml', '--jwt', 'x'), [/^<3>nowhere\.yml:1:1 error/], 'other commands, too');
});

t.test('a second "run" with the same file is rejected, and changes no file of the first router', async (t) => {
  await using overlay = await Overlay.start();
  const [profile, log] = ['cpuprofile', 'log'].map((name) => join(overlay.directory, `a.${name}`)) as [string, string];
  const extra = { profile: { cpu: { path: profile } } };
  const { configFile } = await overlay.enrollRouter({ name: 'a', mode: 'host', link: { dialers: [] }, extra });
  await using _first = await overlay.startRouter(configFile);
  for (const file of [profile, log]) writeFileSync(file, 'of the first router');
  const { code, stderr } = await runProgram(['entry/router-cli.ts', 'run', configFile, '--log-file', log]);
  t.equal(code, 1);
  t.match(stderr, `a router is already running with ${configFile}`);
  t.match(stderr, /\.sock\): stop it before you start another one/);
  for (const file of [profile, log]) t.equal(readFileSync(file, 'utf8'), 'of the first router');
});

t.test('a log file that is another file of the router is rejected before it is opened', async (t) => {
  await using overlay = await Overlay.start();
  const { configFile } = await overlay.enrollRouter({ name: 'a', mode: 'host', link: { dialers: [] } });
  const { config } = loadRouterConfig(configFile);
  for (const [key, file] of [
    ['the configuration', configFile],
    ['identity.key', config?.identity.key ?? ''],
  ] as const) {
    const before = readFileSync(file, 'utf8');
    const { code, stderr } = await runProgram(['entry/router-cli.ts', 'run', configFile, '--log-file', file]);
    t.equal(code, 2);
    t.match(stderr, `${file} is also the file of ${key}; choose another one with --log-file`);
    t.equal(readFileSync(file, 'utf8'), before);
  }
});

t.test('a router that cannot start writes no profile: its file may be in use', async (t) => {
  await using overlay = await Overlay.start();
  const profile = join(overlay.directory, 'shared.cpuprofile');
  const { port } = overlay.echo;
  const { configFile } = await overlay.enrollRouter({
    name: 'a',
    mode: 'host',
    link: { listeners: [linkListener(port)] },
    extra: { profile: { cpu: { path: profile } } },
  });
  writeFileSync(profile, 'of another router');
  await t.rejects(overlay.startRouter(configFile), { code: 'EADDRINUSE' });
  t.equal(readFileSync(profile, 'utf8'), 'of another router');
});

t.test('a router whose place another one took logs the reason', async (t) => {
  const clock = new VirtualClock();
  const lines: Record<string, string>[] = [];
  const channel = { closed: Promise.resolve(null) };
  let connections = 0;
  const dialer = new ControllerDialer(
    {
      clock,
      log: createLog({ write: (line) => void lines.push(JSON.parse(line)) }),
      random: seededRandom(1),
      connected: () => undefined,
      connect: async () => {
        if (connections++ > 0) throw new HelloRejectedError('closed');
        return { id: 'ctrl', controller: { id: 'ctrl', channel } as unknown as Controller };
      },
    },
    'ctrl',
    ['tls:c:1'],
  );
  dialer.start();
  await clock.advance(5_000);
  dialer.stop();
  t.match(lines[0], {
    msg: 'controller rejects this router',
    likely: /same certificate is connected in place of this one/,
    remedy: /one router per enrollment/,
  });
});

t.test('certificates that cannot be renewed are logged at the start, with their expiry', async (t) => {
  await using overlay = await Overlay.start();
  const { configFile } = await overlay.enrollRouter({ name: 'a', mode: 'host', link: { dialers: [] } });
  const text = readFileSync(configFile, 'utf8');
  const inline = JSON.stringify(`pem:${readFileSync(join(overlay.directory, 'a.cert'), 'utf8')}`);
  const cases: [string, string, RegExp][] = [
    [text.replace(/csr: .*/, ''), 'csr', /no csr section/],
    [text.replace(/"[^"]*a\.cert"/, inline), 'identity.cert', /inline text/],
  ];
  for (const [changed, key, reason] of cases) {
    writeFileSync(configFile, changed);
    const lines: string[] = [];
    const log = createLog({ write: (line) => void lines.push(line) });
    await using _ = await overlay.startRouter(configFile, { log });
    const logged = lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg.startsWith('certificates cannot'));
    t.match(logged, [{ key, reason, validTo: /GMT$/ }]);
    if (key === 'csr') continue;
    const finding = loadRouterConfig(configFile).findings.find(
      ({ path, code }) => path === key && code === 'CFG-CERTIFICATE',
    );
    t.match(finding, {
      severity: 'warning',
      message: /cannot be renewed: it is inline text; the current one expires on .*GMT/,
    });
    const web = 'bindPoints: [{interface: "127.0.0.1:1", address: "localhost:1"}], apis: [{binding: metrics}]';
    writeFileSync(
      configFile,
      `${changed}\nweb: [{name: w, identity: {cert: nowhere, server_cert: nowhere, key: nowhere, ca: nowhere}, ${web}}]\n`,
    );
    t.match(
      loadRouterConfig(configFile).findings.find(({ path }) => path === 'web[0].identity.cert'),
      { severity: 'error', code: 'CFG-IDENTITY', message: /nowhere does not exist/, hint: /choose an existing file/ },
      'identities of single servers are checked, too',
    );
  }
});

t.test('every kind of listener names its key if its port is in use', async (t) => {
  await using overlay = await Overlay.start();
  const { port } = overlay.echo;
  const datagrams = createSocket('udp4').bind(0, '127.0.0.1');
  await once(datagrams, 'listening');
  t.teardown(() => datagrams.close());
  const server = webServer(0, 'health-checks');
  const web = [{ ...server, bindPoints: [...server.bindPoints, ...webServer(port).bindPoints] }];
  const udp = datagrams.address().port;
  const place = `tcp 127.0.0.1:${port}`;
  const cases: [string, string, Omit<RouterSetup, 'name'>][] = [
    ['listeners[1].address', place, { listeners: [edgeListener(port)] }],
    ['listeners[1].address', place, { listeners: [edgeListener(port, 'wss')] }],
    [
      'listeners[2].address',
      place,
      { listeners: [edgeListener(), { binding: 'proxy', address: `tcp:127.0.0.1:${port}`, service: 'x' }] },
    ],
    ['listeners[1].address', place, { listeners: [{ binding: 'transport', address: `tls:127.0.0.1:${port}` }] }],
    [
      'listeners[1].address',
      `udp 127.0.0.1:${udp}`,
      { listeners: [{ binding: 'transport_udp', address: `udp:127.0.0.1:${udp}` }] },
    ],
    ['listeners[0].options.services[1]', `tcp 0.0.0.0:${port}`, { mode: 'proxy', services: ['a:0', `b:${port}`] }],
    ['link.listeners[0].bind', place, { link: { listeners: [linkListener(port)] } }],
    [
      'edge.apiProxy.listener',
      place,
      { edge: { apiProxy: { listener: `127.0.0.1:${port}`, upstream: '127.0.0.1:1' } } },
    ],
    ['web[0].bindPoints[1].interface', place, { extra: { web } }],
  ];
  for (const [index, [key, place, settings]] of cases.entries()) {
    const { configFile } = await overlay.enrollRouter({ name: `r${index}`, mode: 'host', ...settings });
    await t.rejects(
      overlay.startRouter(configFile),
      {
        code: 'EADDRINUSE',
        message: new RegExp(`^${RegExp.escape(`${key}: ${place} is in use`)}.*choose another port$`),
      },
      `${key} ${place}`,
    );
  }
});
