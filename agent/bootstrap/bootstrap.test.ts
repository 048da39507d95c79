// The variables of a container: which configuration they describe, and which steps they ask for.

import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { parse } from 'yaml';
import { loadRouterConfig } from '../config/load.ts';
import type { Environment } from '../config/text/environment.ts';
import { bootstrap } from './bootstrap.ts';
import { configText } from './config-file.ts';
import { ownArguments } from './run-arguments.ts';
import { BootstrapError, readConfigSettings, readSettings } from './settings.ts';

const NOW = new Date('2026-03-04T05:06:07Z');
const HOST = 'f00d';
const NAMED: Environment = {
  ZITI_ROUTER_ADVERTISED_ADDRESS: 'edge.example',
  ZITI_CTRL_ADVERTISED_ADDRESS: 'ctrl.example',
};
const JWT = 'aaa.bbb.ccc';

interface Tried {
  readonly isNew: boolean;
  readonly tokens: string[];
  readonly lines: string[];
}

function folder(test: Test): string {
  const path = mkdtempSync(join(tmpdir(), 'edgeweave-bootstrap-'));
  test.teardown(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** Runs the steps with a stand-in for the enrollment, which writes the certificate. */
async function run(home: string, given: Environment): Promise<Tried> {
  const environment = { ZITI_BOOTSTRAP: 'true', ZITI_HOME: home, ...given };
  const settings = readSettings(environment, home);
  const tokens: string[] = [];
  const lines: string[] = [];
  const isNew = await bootstrap({
    file: 'config.yml',
    settings,
    environment,
    hostName: HOST,
    now: NOW,
    enroll: async (_file, token) => {
      tokens.push(token);
      writeFileSync(join(home, settings.certificate), 'certificate');
      return true;
    },
    report: (line) => lines.push(line),
    debug: () => undefined,
  });
  return { isNew, tokens, lines };
}

/** @param path Keys and indices, separated by dots. */
function valueAt(config: unknown, path: string): unknown {
  return path.split('.').reduce((value, key) => (value as Record<string, unknown> | undefined)?.[key], config);
}

t.test('each variable of the configuration reaches its key, and the file passes the check', async (t) => {
  const home = folder(t);
  const cases: readonly (readonly [Environment, string, unknown])[] = [
    [{}, 'ctrl', { endpoint: 'tls:ctrl.example:1280', endpointsFile: `${home}/endpoints.yml` }],
    [{ ZITI_CTRL_ADVERTISED_ADDRESS: '' }, 'ctrl.endpoint', undefined],
    [{ ZITI_CTRL_ADVERTISED_PORT: '443' }, 'ctrl.endpoint', 'tls:ctrl.example:443'],
    [{ ZITI_CTRL_ADVERTISED_ADDRESS: 'fd00::1' }, 'ctrl.endpoint', 'tls:[fd00::1]:1280'],
    [{}, 'identity.cert', `${home}/router.cert`],
    [{ ZITI_ROUTER_NAME: 'r7' }, 'identity.server_cert', `${home}/r7.server.chain.cert`],
    [{ ZITI_ROUTER_IDENTITY_CERT: '/pki/x.cert' }, 'identity.cert', '/pki/x.cert'],
    [{}, 'listeners.0.address', 'tls:0.0.0.0:3022'],
    [{}, 'listeners.0.options.advertise', 'edge.example:3022'],
    [{ ZITI_ROUTER_PORT: '443' }, 'link.listeners.0.advertise', 'tls:edge.example:443'],
    [{ ZITI_ROUTER_BIND_ADDRESS: '10.0.0.5' }, 'link.listeners.0.bind', 'tls:10.0.0.5:3022'],
    [{}, 'listeners.1.options', { mode: 'host' }],
    [{ ZITI_ROUTER_MODE: 'none' }, 'listeners.length', 1],
    [{ ZITI_ROUTER_MODE: 'proxy' }, 'listeners.1.options', { mode: 'proxy' }],
    [
      { ZITI_ROUTER_MODE: 'tproxy', ZITI_ROUTER_LAN_INTERFACE: 'eth0' },
      'listeners.1.options',
      { mode: 'tproxy', resolver: 'udp://127.0.0.1:53', dnsSvcIpRange: '100.64.0.1/10', lanIf: 'eth0' },
    ],
    [
      {
        ZITI_ROUTER_MODE: 'tproxy',
        ZITI_ROUTER_TPROXY_RESOLVER: 'udp://127.0.0.5:53',
        ZITI_ROUTER_DNS_IP_RANGE: '100.96.0.1/16',
      },
      'listeners.1.options',
      { mode: 'tproxy', resolver: 'udp://127.0.0.5:53', dnsSvcIpRange: '100.96.0.1/16' },
    ],
    [{ ZITI_ROUTER_TYPE: 'fabric' }, 'listeners', undefined],
    [{ ZITI_BOOTSTRAP_CONFIG_ARGS: '--wss' }, 'listeners.0.address', 'wss:0.0.0.0:3022'],
    [{ ZITI_BOOTSTRAP_CONFIG_ARGS: '--private' }, 'link.listeners', undefined],
    [{ ZITI_BOOTSTRAP_CONFIG_ARGS: '--private=1' }, 'link.listeners', undefined],
    [{ ZITI_BOOTSTRAP_CONFIG_ARGS: '--private=TRUE' }, 'link.listeners', undefined],
    [{ ZITI_BOOTSTRAP_CONFIG_ARGS: '--private=t' }, 'link.listeners', undefined],
    [{ ZITI_BOOTSTRAP_CONFIG_ARGS: '--tunnelerMode none' }, 'listeners.length', 1],
    [{}, 'csr.sans', { dns: ['localhost', 'edge.example', HOST], ip: ['127.0.0.1', '::1'] }],
    [{ ZITI_ROUTER_ADVERTISED_ADDRESS: '192.0.2.7' }, 'csr.sans.ip', ['127.0.0.1', '::1', '192.0.2.7']],
    [{ ZITI_ROUTER_CSR_O: 'Example' }, 'csr.organization', 'Example'],
  ];
  for (const [given, path, expected] of cases) {
    const text = configText(readConfigSettings({ ...NAMED, ...given }, home, HOST));
    t.same(valueAt(parse(text), path), expected, `${path} of ${JSON.stringify(given)}`);
    const file = join(home, 'router.yml');
    writeFileSync(file, text);
    const { findings } = loadRouterConfig(file, { beforeEnrollment: true });
    const errors = findings.filter(({ severity }) => severity === 'error');
    t.same(errors, [], JSON.stringify(given));
  }
});

t.test('invalid variables are reported together, each with its remedy', async (t) => {
  const home = folder(t);
  const cases: readonly (readonly [Environment, RegExp])[] = [
    [{ ZITI_ROUTER_ADVERTISED_ADDRESS: '' }, /^ZITI_ROUTER_ADVERTISED_ADDRESS is not set; set it to/],
    [{ ZITI_ROUTER_PORT: '70000' }, /^ZITI_ROUTER_PORT is "70000"; set it to a port from 1 to 65535$/],
    [{ ZITI_CTRL_ADVERTISED_PORT: 'x' }, /^ZITI_CTRL_ADVERTISED_PORT is "x"/],
    [{ ZITI_ROUTER_TYPE: 'core' }, /^ZITI_ROUTER_TYPE is "core"; set it to edge, fabric$/],
    [{ ZITI_ROUTER_MODE: 'tun' }, /^ZITI_ROUTER_MODE is "tun"; set it to host, none, tproxy, proxy$/],
    [{ ZITI_BOOTSTRAP_CONFIG_ARGS: '--wss --private' }, /^ZITI_BOOTSTRAP_CONFIG_ARGS: --private and --wss exclude/],
    [
      { ZITI_BOOTSTRAP_CONFIG_ARGS: '--output x' },
      /^ZITI_BOOTSTRAP_CONFIG_ARGS: --output cannot be used here; use --t/,
    ],
    [{ ZITI_ROUTER_NAME: 'a$b' }, /^ZITI_ROUTER_NAME contains "\$"/],
    [{ ZITI_ROUTER_TYPE: 'core', ZITI_ROUTER_PORT: '0' }, /^ZITI_ROUTER_TYPE .*\nZITI_ROUTER_PORT /],
  ];
  for (const [given, message] of cases)
    t.throws(() => readConfigSettings({ ...NAMED, ...given }, home, HOST), { message }, JSON.stringify(given));
  const wrong = { ZITI_BOOTSTRAP: 'true', ZITI_BOOTSTRAP_CONFIG: 'yes', ZITI_BOOTSTRAP_ENROLLMENT: 'no' };
  t.throws(() => readSettings(wrong, home), {
    message: /^ZITI_BOOTSTRAP_CONFIG is "yes".*\nZITI_BOOTSTRAP_ENROLLMENT /,
  });
  t.equal(readSettings({ ...wrong, ZITI_BOOTSTRAP: 'false' }, home).isEnabled, false, 'nothing else is read then');
});

t.test('no value of a variable adds to the configuration, or fails without a remedy', async (t) => {
  const names = [
    'ADVERTISED_ADDRESS',
    'NAME',
    'BIND_ADDRESS',
    'IDENTITY_CERT',
    'LAN_INTERFACE',
    'CSR_O',
    'IP_OVERRIDE',
  ];
  const values = ['x'.repeat(5_000), 'a\nlink: {dialers: []}', '"a" {b: [c', '&a *a', '!!js x', '# a', 'é'.repeat(300)];
  const usual = folder(t);
  await run(usual, { ...NAMED, ZITI_ENROLL_TOKEN: JWT });
  const keysOf = (home: string) => Object.keys(parse(readFileSync(join(home, 'config.yml'), 'utf8')) as object);
  for (const name of names)
    for (const value of values) {
      const home = folder(t);
      const given = { ...NAMED, ZITI_ENROLL_TOKEN: JWT, [`ZITI_ROUTER_${name}`]: value };
      const tried = await run(home, given).catch((error: unknown) => error);
      if (tried instanceof Error) t.ok(tried instanceof BootstrapError, `${name}: ${value.slice(0, 20)}`);
      if (existsSync(join(home, 'config.yml'))) t.same(keysOf(home), keysOf(usual), `${name}: ${value.slice(0, 20)}`);
    }
  await t.rejects(run(folder(t), { ...NAMED, ZITI_ROUTER_NAME: 'x'.repeat(300) }), {
    message: /xxx… \(\d+ characters\) is too long for the name of a file; check ZITI_HOME, ZITI_ROUTER_NAME and/,
  });
  await t.rejects(run(folder(t), { ...NAMED, ZITI_ENROLL_TOKEN: '/dev/zero' }), { message: /more than 4 MiB/ });
});

t.test('the first start creates and enrolls, a second one does neither', async (t) => {
  const home = folder(t);
  t.match(await run(home, { ...NAMED, ZITI_ENROLL_TOKEN: JWT }), { isNew: true, tokens: [JWT] });
  t.equal(statSync(join(home, 'config.yml')).mode & 0o777, 0o600);
  const text = readFileSync(join(home, 'config.yml'), 'utf8');
  t.match(await run(home, { ...NAMED, ZITI_ROUTER_PORT: '99' }), {
    isNew: false,
    tokens: [],
    lines: [`the configuration file ${home}/config.yml exists`],
  });
  t.equal(readFileSync(join(home, 'config.yml'), 'utf8'), text);
});

t.test('a start says which changed or invalid variables have no effect on the existing file', async (t) => {
  const home = folder(t);
  const given = { ...NAMED, ZITI_ENROLL_TOKEN: JWT };
  await run(home, given);
  const file = join(home, 'config.yml');
  const later = async (changed: Environment) => (await run(home, { ...given, ...changed })).lines.slice(1);
  t.same(await later({}), [], 'the same variables');
  const [changes, ...others] = await later({ ZITI_ROUTER_PORT: '443', ZITI_ROUTER_MODE: 'none' });
  t.same(others, []);
  t.match(changes, `${file} counts: link.listeners[0].bind is tls:0.0.0.0:3022, and would be tls:0.0.0.0:443; `);
  t.match(changes, /; 1 more\. To use the variables, set ZITI_BOOTSTRAP_CONFIG=force for one start, or change /);
  t.match(await later({ ZITI_ROUTER_MODE: 'none' }), [/listeners\[1\]\.binding is set, and would not be/]);
  t.match(await later({ ZITI_ROUTER_CSR_SANS_DNS: 'new.example' }), [/csr\.sans\.dns\[1\] has no new\.example/]);
  t.match(await later({ ZITI_ROUTER_PORT: 'many' }), [
    /^no effect, since .* exists: ZITI_ROUTER_PORT is "many"; set it to/,
  ]);
  const own = readFileSync(file, 'utf8').replace(/^#.*\n/, '');
  writeFileSync(file, own);
  t.same(await later({ ZITI_ROUTER_PORT: 'many' }), [], 'a file of the operator does not come from variables');
});

t.test('force replaces the file, keeps the old one, and enrolls again', async (t) => {
  const home = folder(t);
  await run(home, { ...NAMED, ZITI_ENROLL_TOKEN: JWT });
  const force = { ZITI_BOOTSTRAP_CONFIG: 'force', ZITI_BOOTSTRAP_ENROLLMENT: 'force' };
  const tried = await run(home, { ...NAMED, ...force, ZITI_ROUTER_PORT: '99', ZITI_ENROLL_TOKEN: 'ddd.eee.fff' });
  t.match(tried, { isNew: true, tokens: ['ddd.eee.fff'] });
  t.same(readdirSync(home).sort(), ['config.yml', 'config.yml.2026-03-04T05:06:07+00:00.old', 'router.cert']);
});

t.test('a token may be in a file, and is demanded only without a certificate', async (t) => {
  const home = folder(t);
  writeFileSync(join(home, 'edge.jwt'), `${JWT}\n`);
  t.match(await run(home, { ...NAMED, ZITI_ENROLL_TOKEN: 'edge.jwt' }), { tokens: [`${JWT}\n`] });
  rmSync(join(home, 'router.cert'));
  await t.rejects(run(home, NAMED), {
    message: /router\.cert does not exist, and ZITI_ENROLL_TOKEN is not set; set it/,
  });
  await t.rejects(run(home, { ...NAMED, ZITI_ENROLL_TOKEN: 'nothing' }), { message: /neither a token nor the path/ });
  t.match(await run(home, { ...NAMED, ZITI_BOOTSTRAP_ENROLLMENT: 'false' }), { isNew: false, tokens: [] });
});

t.test('a mounted configuration needs no variables', async (t) => {
  const home = folder(t);
  const chart = { ZITI_BOOTSTRAP_CONFIG: 'false', ZITI_ROUTER_NAME: 'r', ZITI_ENROLL_TOKEN: JWT };
  await t.rejects(run(home, chart), BootstrapError, 'without the file');
  t.notOk(existsSync(join(home, 'config.yml')));
  writeFileSync(join(home, 'config.yml'), 'v: 3\n');
  t.match(await run(home, chart), { isNew: true, tokens: [JWT] });
});

t.test('arguments of the reference become those of this program', async (t) => {
  const cases: readonly (readonly [string, string])[] = [
    ['config.yml --extend', 'config.yml --extend'],
    ['-e config.yml -v', '--extend config.yml --log-level debug'],
    ['config.yml --log-formatter pretty', 'config.yml --log-format text'],
    ['config.yml --log-formatter=json', 'config.yml --log-format json'],
    ['config.yml --log-formatter pfxlog --cli-agent=true', 'config.yml --log-format text'],
    ['config.yml --cliagent --cli-agent-addr x --debug-ops', 'config.yml'],
    ['config.yml --cliagent=false --extend=false', 'config.yml'],
    ['config.yml --drain-seconds 3', 'config.yml --drain-seconds 3'],
  ];
  for (const [given, expected] of cases)
    t.same(ownArguments(['run', ...given.split(' ')]), ['run', ...expected.split(' ')], given);
  const enroll = ['enroll', 'c.yml', '--jwt', 't.jwt', '--key-alg', 'EC'];
  t.same(ownArguments(['enroll', 'c.yml', '-j', 't.jwt', '-a', 'EC', '-v']), enroll);
  t.same(ownArguments(['enroll', 'c.yml', '--jwt=t.jwt', '--keyAlg=EC', '--log-formatter', 'json']), enroll);
  for (const others of [[], ['--help'], ['inspect', 'c.yml', '-v']]) t.same(ownArguments(others), others);
});
