// Table tests of posture: operating systems by statement and version, addresses, domains, processes, and one-time
// passwords at the exact limits of their times.

import t from 'tap';
import {
  type DemandsByType,
  evaluatePosture,
  isVersionStatement,
  type PostureCheckType,
  type PostureDemand,
  type PostureState,
  PROMPT_GRACE,
  versionFits,
} from './posture.ts';

const NO_POSTURE: PostureState = { processes: [] };

function check<T extends PostureCheckType>(typeId: T, demands: DemandsByType[T]): PostureDemand {
  return { id: 'check', typeId, demands } as PostureDemand;
}

function passes(demand: PostureDemand, state: Partial<PostureState>, now = 0): boolean {
  return evaluatePosture(demand, { ...NO_POSTURE, ...state }, now).isPassing;
}

const VERSIONS = [
  '4.14.0',
  '5.4.0',
  '5.4.9',
  '5.9.1',
  '6.0.0',
  '6.1.0',
  '6.1.5',
  '7.0.0-rc.1',
  '7.0.0',
  '10.0.19045',
  '11.0.0',
  '11.2.3+build.7',
  '5.4',
  'Vista',
  '',
];
/** A statement, and the versions above that satisfy it. */
const STATEMENTS: readonly (readonly [string, readonly string[]])[] = [
  ['6.0.0', ['6.0.0']],
  ['=6.0.0', ['6.0.0']],
  ['==6.0.0', ['6.0.0']],
  ['>=7.0.0', ['7.0.0', '10.0.19045', '11.0.0', '11.2.3+build.7']],
  ['> 7.0.0', ['10.0.19045', '11.0.0', '11.2.3+build.7']],
  ['<5.4.0', ['4.14.0']],
  ['<= 5.4.0', ['4.14.0', '5.4.0']],
  ['>=5.0.0 <6.0.0', ['5.4.0', '5.4.9', '5.9.1']],
  ['>=5.0.0 <6.0.0 || >=6.1.0 <7.0.0', ['5.4.0', '5.4.9', '5.9.1', '6.1.0', '6.1.5', '7.0.0-rc.1']],
  ['>=5.0.0 <6.0.0 || 11.0.0', ['5.4.0', '5.4.9', '5.9.1', '11.0.0']],
  ['>=5.4.0 !=5.4.9 <6.0.0', ['5.4.0', '5.9.1']],
  ['!5.4.9 <6.0.0', ['4.14.0', '5.4.0', '5.9.1']],
  ['5.4.x', ['5.4.0', '5.4.9']],
  ['5.x', ['5.4.0', '5.4.9', '5.9.1']],
  ['6', ['6.0.0', '6.1.0', '6.1.5']],
  ['6.1', ['6.1.0', '6.1.5']],
  ['>=10.0.19044', ['10.0.19045', '11.0.0', '11.2.3+build.7']],
  ['>10.0.19045 || <5.0.0', ['4.14.0', '11.0.0', '11.2.3+build.7']],
  ['5.4.0 - 6.0.0', ['5.4.0', '5.4.9', '5.9.1', '6.0.0']],
  ['~5.4.0', ['5.4.0', '5.4.9']],
  ['^11.0.0', ['11.0.0', '11.2.3+build.7']],
];

t.test('versions of operating systems against statements', async (t) => {
  for (const [statement, fitting] of STATEMENTS) {
    t.ok(isVersionStatement(statement), `${statement} is a statement`);
    for (const version of VERSIONS)
      t.equal(versionFits(version, statement), fitting.includes(version), `${version || 'none'} against ${statement}`);
  }
  for (const statement of ['banana', '>=', '>= banana', '1.2.3.4', '>=9.0.0 ||', '>=9.0.0 || >', '!', '||', ' ', '']) {
    t.notOk(isVersionStatement(statement), `${statement || 'nothing'} is not a statement`);
    t.notOk(versionFits('5.0.0', statement), `${statement || 'nothing'} allows no version`);
  }
  const long = `>=1.0.0${' >=1.0.0'.repeat(100)}`;
  t.notOk(isVersionStatement(long) || versionFits('2.0.0', long), 'a statement that is too long is rejected');
});

t.test('operating systems by type', async (t) => {
  const demand = check('OS', {
    operatingSystems: [
      { type: 'Linux', versions: ['>=5.0.0'] },
      { type: 'Windows', versions: [] },
      { type: 'WindowsServer', versions: ['>=10.0.0 <11.0.0', '>=12.0.0'] },
      { type: 'macOS', versions: ['<1.0.0'] },
      { type: 'macOS', versions: ['>=11.0.0'] },
    ],
  });
  const os = (type: string, version: string) => passes(demand, { os: { type, version, build: '' } });
  const table: [string, string, boolean][] = [
    ['Linux', '5.4.0', true],
    ['linux', '5.4.0', true],
    ['LINUX', '5.4.0', true],
    ['Linux', '4.14.0', false],
    ['Linux', '', false],
    ['Windows', '10.0.19045', true],
    ['WINDOWS', 'whatever', true],
    ['Windows', '', true],
    ['WindowsServer', '10.0.17763', true],
    ['windowsserver', '11.0.0', false],
    ['WindowsServer', '12.0.0', true],
    ['macOS', '11.0.0', true],
    ['macos', '0.9.0', false],
    ['iOS', '17.0.0', false],
    ['Android', '14.0.0', false],
    ['', '5.4.0', false],
  ];
  for (const [type, version, expected] of table) t.equal(os(type, version), expected, `${type} ${version}`);
  t.notOk(passes(demand, {}), 'nothing was reported');
});

t.test('addresses, domains', async (t) => {
  const mac = check('MAC', { macAddresses: ['aabbcc001122', '001122334455'] });
  const addresses: [string[], boolean][] = [
    [['AA:BB:CC:00:11:22'], true],
    [['aa-bb-cc-00-11-22'], true],
    [['aabb.cc00.1122'], true],
    [['ff:ff:ff:ff:ff:ff', '00:11:22:33:44:55'], true],
    [['ff:ff:ff:ff:ff:ff'], false],
    [['aabbcc00112'], false],
    [['zz'], false],
    [[''], false],
    [[], false],
  ];
  for (const [macAddresses, expected] of addresses)
    t.equal(passes(mac, { macAddresses }), expected, `addresses ${macAddresses.join(' ') || 'none'}`);
  const domain = check('DOMAIN', { domains: ['corp.example', 'B.example'] });
  for (const [name, expected] of [
    ['corp.example', true],
    ['CORP.EXAMPLE', true],
    ['b.EXAMPLE', true],
    ['example', false],
    ['', false],
  ] as const)
    t.equal(passes(domain, { domain: name }), expected, `domain ${name}`);
  t.notOk(passes(domain, {}), 'no domain was reported');
});

t.test('processes', async (t) => {
  const system = (type: string) => ({ type, version: '1.0.0', build: '' });
  const running = {
    postureCheckId: 'other',
    path: '/bin/a',
    isRunning: true,
    hash: 'AB12',
    signerFingerprints: ['F1', 'f2'],
  };
  const states: Record<string, Partial<PostureState>> = {
    running: { processes: [running] },
    stopped: { processes: [{ ...running, isRunning: false }] },
    'another path': { processes: [{ ...running, path: '/bin/b' }] },
    'answered this check': { processes: [{ ...running, path: 'elsewhere', postureCheckId: 'check' }] },
    both: { processes: [running, { ...running, path: '/bin/b' }] },
    none: {},
    'of the system, at a router': { processes: [running], comparesProcessOs: true, os: system('linux') },
    'of another system, at a router': { processes: [running], comparesProcessOs: true, os: system('Windows') },
    'of an unknown system, at a router': { processes: [running], comparesProcessOs: true },
    'of another system, at a controller': { processes: [running], os: system('Windows') },
  };
  const single = (hashes: string[], signerFingerprint: string) =>
    check('PROCESS', { process: { osType: 'Linux', path: '/bin/a', hashes, signerFingerprint } });
  const multi = (semantic: string, ...paths: string[]) =>
    check('PROCESS_MULTI', {
      semantic,
      processes: paths.map((path) => ({ osType: 'Linux', path, hashes: ['ab12'], signerFingerprints: ['F2'] })),
    });
  const table: [string, PostureDemand, Record<string, boolean>][] = [
    [
      'path alone',
      single([], ''),
      { running: true, stopped: false, 'another path': false, 'answered this check': true, none: false },
    ],
    [
      'a hash of two',
      single(['00', 'ab12'], ''),
      { running: true, stopped: false, 'another path': false, none: false },
    ],
    ['a wrong hash', single(['00'], ''), { running: false, both: false }],
    ...[single([], ''), multi('AllOf', '/bin/a'), multi('AnyOf', '/bin/a')].map(
      (each, index): [string, PostureDemand, Record<string, boolean>] => [
        `the operating system, ${index}`,
        each,
        {
          'of the system, at a router': true,
          'of another system, at a router': false,
          'of an unknown system, at a router': true,
          'of another system, at a controller': true,
        },
      ],
    ),
    ['a signer', single([], 'f1'), { running: true, stopped: false, none: false }],
    ['a wrong signer', single([], 'f9'), { running: false }],
    ['hash and signer', single(['AB12'], 'F1'), { running: true }],
    ['all of one', multi('AllOf', '/bin/a'), { running: true, stopped: false, 'another path': false, none: false }],
    [
      'all of two',
      multi('AllOf', '/bin/a', '/bin/b'),
      { running: false, 'another path': false, both: true, none: false },
    ],
    [
      'one of two',
      multi('AnyOf', '/bin/a', '/bin/b'),
      { running: true, stopped: false, 'another path': true, both: true, none: false },
    ],
    ['one without a path', multi('AnyOf', ''), { running: false, both: false }],
  ];
  for (const [name, demand, expected] of table)
    for (const [state, passing] of Object.entries(expected))
      t.equal(passes(demand, states[state] ?? {}), passing, `${name}: ${state}`);
});

t.test('one-time passwords, at the limits of their times', async (t) => {
  const at = 1_000_000;
  const minute = 60_000;
  const mfa = (timeoutSeconds: number, promptOnWake = false, promptOnUnlock = false) =>
    check('MFA', { timeoutSeconds, promptOnWake, promptOnUnlock });
  const table: [string, PostureDemand, Partial<PostureState>, number, boolean, number, number][] = [
    // name, check, state, now, passing, timeout, remaining
    ['never given', mfa(-1), {}, at, false, -1, -1],
    ['never given, with a timeout', mfa(600), {}, at, false, 600, 0],
    ['given, no timeout', mfa(-1), { passedMfaAt: at }, at + 1e12, true, -1, -1],
    ['given, timeout 0', mfa(0), { passedMfaAt: at }, at + 1e12, true, -1, -1],
    ['just given', mfa(600), { passedMfaAt: at }, at, true, 600, 600],
    ['half of the time', mfa(600), { passedMfaAt: at }, at + 300_000, true, 600, 300],
    ['one millisecond before the end', mfa(600), { passedMfaAt: at }, at + 599_999, true, 600, 0],
    ['at the end', mfa(600), { passedMfaAt: at }, at + 600_000, true, 600, 0],
    ['one millisecond after the end', mfa(600), { passedMfaAt: at }, at + 600_001, false, 600, 0],
    ['woken, without the prompt', mfa(-1), { passedMfaAt: at, wokenAt: at + minute }, at + 1e9, true, -1, -1],
    ['woken just now', mfa(-1, true), { passedMfaAt: at, wokenAt: at + minute }, at + minute, true, -1, 300],
    ['in the time of grace', mfa(-1, true), { passedMfaAt: at, wokenAt: at + minute }, at + 2 * minute, true, -1, 240],
    ['last moment of grace', mfa(-1, true), { passedMfaAt: at, wokenAt: at + 1 }, at + PROMPT_GRACE, true, -1, 0],
    ['grace is over', mfa(-1, true), { passedMfaAt: at, wokenAt: at + 1 }, at + 1 + PROMPT_GRACE, false, -1, 0],
    ['given again after waking', mfa(-1, true), { passedMfaAt: at + 2, wokenAt: at + 1 }, at + 1e9, true, -1, -1],
    [
      'unlocked, with the prompt for waking',
      mfa(-1, true),
      { passedMfaAt: at, unlockedAt: at + 1 },
      at + 1e9,
      true,
      -1,
      -1,
    ],
    ['unlocked just now', mfa(-1, false, true), { passedMfaAt: at, unlockedAt: at + 1 }, at + 1, true, -1, 300],
    [
      'unlocked, last moment',
      mfa(-1, false, true),
      { passedMfaAt: at, unlockedAt: at + 1 },
      at + PROMPT_GRACE,
      true,
      -1,
      0,
    ],
    [
      'unlocked, grace is over',
      mfa(-1, false, true),
      { passedMfaAt: at, unlockedAt: at + 1 },
      at + 1 + PROMPT_GRACE,
      false,
      -1,
      0,
    ],
    [
      'woken and unlocked, the first deadline applies',
      mfa(-1, true, true),
      { passedMfaAt: at, wokenAt: at + minute, unlockedAt: at + 2 * minute },
      at + 2 * minute,
      true,
      -1,
      240,
    ],
    [
      'the timeout ends before the grace',
      mfa(120, true),
      { passedMfaAt: at, wokenAt: at + minute },
      at + minute,
      true,
      120,
      60,
    ],
    [
      'the timeout ends in the grace',
      mfa(120, true),
      { passedMfaAt: at, wokenAt: at + minute },
      at + 2 * minute + 1,
      false,
      120,
      0,
    ],
    [
      'the grace ends before the timeout',
      mfa(3_600, true),
      { passedMfaAt: at, wokenAt: at + minute },
      at + minute + PROMPT_GRACE,
      false,
      3_600,
      0,
    ],
    ['woken and never given', mfa(-1, true), { wokenAt: at }, at, false, -1, 0],
  ];
  for (const [name, demand, state, now, isPassing, timeout, timeoutRemaining] of table)
    t.same(evaluatePosture(demand, { ...NO_POSTURE, ...state }, now), { isPassing, timeout, timeoutRemaining }, name);
});
