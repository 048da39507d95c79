// Options of the exported functions. package.test.ts and network.test.ts test the effects of valid ones.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { OPTION_CHECKS } from '../../controller-sim/assembly/options.ts';
import * as router from '../../entry/router.ts';
import * as sim from '../../entry/sim.ts';

/** The signature in JavaScript. */
type Call = (...args: unknown[]) => unknown;

const FILE = join(import.meta.dirname, 'no-such-router.yml');

t.test('unknown and invalid options are rejected before any port is opened', async (t) => {
  const table: [call: Call, args: unknown[], message: RegExp][] = [
    [
      sim.startSimulator as Call,
      [{ pasword: 'secret' }],
      /^startSimulator: unknown option pasword; did you mean password\?$/,
    ],
    [sim.startSimulator as Call, [{ dataFile: 'x' }], /unknown option dataFile; known are host, port, data, /],
    [sim.startSimulator as Call, ['sim.db'], /the options must be an object/],
    [sim.startSimulator as Call, [{ log: () => undefined }], /option log is invalid\. .*createLog\(\)/],
    [sim.startSimulator as Call, [{ clock: Date }], /option clock is invalid/],
    [sim.startSimulator as Call, [{ cluster: 'yes' }], /option cluster is invalid\. It must be true or false/],
    [
      sim.startSimulator as Call,
      [{ sessionLifetime: '30m' }],
      /option sessionLifetime is invalid\. .* whole number from 1 to/,
    ],
    [sim.startSimulator as Call, [{ enrollmentLifetime: 0 }], /option enrollmentLifetime is invalid/],
    [sim.startSimulator as Call, [{ churnLimit: -1 }], /option churnLimit is invalid/],
    [
      sim.startSimulator as Call,
      [{ passwordCost: { memory: 64 } }],
      /option passwordCost is invalid\. It must have memory/,
    ],
    [sim.startSimulator as Call, [{ passwordCost: { memry: 64 } }], /unknown option memry; did you mean memory\?/],
    [sim.startSimulator as Call, [{ linkVersion: 'old' }], /option linkVersion is invalid\. .*v1\.6\.5/],
    [sim.startSimulator as Call, [{ advertise: 'sim.example' }], /option advertise is invalid\. It must be a list/],
    [sim.startNetwork as Call, [{ router: 3 }], /^startNetwork: unknown option router; did you mean routers\?$/],
    [sim.startNetwork as Call, [{ routers: 27 }], /option routers is invalid\. .*whole number from 1 to 26/],
    [sim.startNetwork as Call, [{ routers: ['a', 'a'] }], /option routers is invalid\. Each name must be unique/],
    [sim.startNetwork as Call, [{ data: 'sim.db' }], /unknown option data/],
    [sim.runLoad as Call, [{}, 'clients: []', { kep: true }], /^runLoad: unknown option kep; did you mean keep\?$/],
    [sim.runLoad as Call, [{}, 'clients: []', { signal: 1 }], /option signal is invalid\. It must be an AbortSignal/],
    [sim.startRecorder as Call, [{ url: 'sim' }], /option url is invalid\. It must be https:/],
    [sim.startRecorder as Call, [{ url: 'https://sim' }], /^startRecorder: the option ca is missing$/],
    [sim.startRecorder as Call, [{ withSecret: true }], /unknown option withSecret; did you mean withSecrets\?$/],
    [sim.startReplay as Call, [{}], /^startReplay: the option file is missing$/],
    [sim.startReplay as Call, [{ file: 'f', prt: 1 }], /unknown option prt; did you mean port\?$/],
    [
      sim.seedController as Call,
      [{}, {}, { aply: true }],
      /^seedController: unknown option aply; did you mean apply\?$/,
    ],
    [sim.seedController as Call, [{}, {}, { plan: 1 }], /option plan is invalid\. It must be true or false/],
    [sim.seedController as Call, [{ baseUrl: 'sim' }, {}], /option baseUrl is invalid\. It must be https:/],
    [router.startRouter as Call, [FILE, { extnd: true }], /^startRouter: unknown option extnd; did you mean extend\?$/],
    [router.startRouter as Call, [FILE, { log: 'info' }], /option log is invalid/],
    [
      router.startRouter as Call,
      [],
      /^startRouter: the path of the configuration file is invalid\. It must be a string/,
    ],
    [
      router.enrollRouter as Call,
      [FILE, 'token', { keyAlg: 'EC' }],
      /unknown option keyAlg; known are log, keyAlgorithm/,
    ],
    [router.enrollRouter as Call, [FILE, 'token', { keyAlgorithm: 'ec' }], /one of RSA, EC\. Did you mean EC\?/],
    [router.enrollRouter as Call, [FILE], /^enrollRouter: the token is invalid\. It must be a string/],
  ];
  for (const [call, args, message] of table)
    await t.rejects(
      Promise.resolve(call(...args)),
      { name: 'OptionError', code: 'BAD_OPTION', message },
      String(message),
    );
  const check = router.checkRouterConfig as Call;
  t.throws(() => check(FILE, { beforeEnrolment: true }), { message: /did you mean beforeEnrollment\?/ });
  t.throws(() => check(''), { message: /must not be empty/ });
  t.throws(() => check(FILE, { now: 'today' }), { message: /milliseconds since 1970/ });
  t.throws(() => check(FILE, { readFile: {} }), { message: /must be a function/ });
  const createLog = router.createLog as Call;
  t.throws(() => createLog({ level: 'loud' }), {
    message: /^createLog: the option level is invalid\. .*one of trace, debug/,
  });
  t.throws(() => createLog({ fromat: 'text' }), { message: /did you mean format\?/ });
  t.equal(router.OptionError, sim.OptionError);
});

t.test('valid options are accepted', async (t) => {
  await t.rejects(router.startRouter(FILE, { log: router.createLog({ level: 'silent' }), extend: false }), {
    name: 'ConfigurationError',
  });
  t.match(router.checkRouterConfig(FILE, { beforeEnrollment: true, environment: process.env, now: 0 }), { ok: false });
  await using simulator = await sim.startSimulator({ sessionLifetime: 1_000, advertise: ['localhost'], cluster: true });
  const subscribe = simulator.events.subscribe.bind(simulator.events) as Call;
  t.throws(() => subscribe(() => undefined, ['entityChanges']), {
    message: /"entityChanges" is unknown\. .* Did you mean entityChange\?/,
  });
  subscribe(() => undefined, ['entityChange', 'fabric.links']);
  t.match(simulator.baseUrl, /^https:\/\/localhost:/);
});

t.test('the guide names options of startSimulator that exist', (t) => {
  const guide = readFileSync(join(import.meta.dirname, '../../docs/guides/test-against-the-simulator.md'), 'utf8');
  const [, names = ''] = /^`startSimulator` accepts .*`\{ (.*), … \}`/m.exec(guide) ?? [];
  t.not(names, '');
  t.strictSame(
    names.split(', ').filter((name) => !Object.hasOwn(OPTION_CHECKS, name)),
    [],
  );
  t.end();
});
