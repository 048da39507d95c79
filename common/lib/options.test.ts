// Checks of options, as functions of the package and command lines use them.

import t from 'tap';
import { createLog, silentLog } from './log/log.ts';
import {
  boolean,
  checkOptions,
  hostForOthers,
  integer,
  listOf,
  log,
  notEmpty,
  type OptionCheck,
  OptionError,
  objectWith,
  oneOf,
  path,
  stringOfLength,
} from './options.ts';

const CHECKS: Readonly<Record<string, OptionCheck>> = { host: notEmpty, port: integer(0, 65_535), cluster: boolean };

t.test('known options with valid values pass, and undefined counts as missing', async (t) => {
  checkOptions('f', {}, CHECKS);
  checkOptions('f', { host: 'a', port: 0, cluster: false }, CHECKS);
  checkOptions('f', { host: undefined }, CHECKS);
  t.pass('nothing is thrown');
});

t.test('unknown options and invalid values are rejected with the name of the function', async (t) => {
  const table: [options: unknown, message: RegExp][] = [
    [{ hots: 'a' }, /^f: unknown option hots; did you mean host\?$/],
    [{ Cluster: true }, /did you mean cluster\?/],
    [{ address: 'a' }, /^f: unknown option address; known are host, port, cluster$/],
    [{ constructor: 1 }, /unknown option constructor/],
    [{ unknown: undefined }, /unknown option unknown/],
    [{ port: 70_000 }, /^f: the option port is invalid\. It must be a whole number from 0 to 65535\.$/],
    ['router.yml', /^f: the options must be an object, for example \{\}, not a value of type string$/],
    [null, /not null/],
    [[], /not a list/],
  ];
  for (const [options, message] of table)
    t.throws(() => checkOptions('f', options, CHECKS), { code: 'BAD_OPTION', message }, String(message));
  t.throws(() => checkOptions('f', { x: 1 }, CHECKS), OptionError);
});

t.test('each check accepts valid values and describes them in its error', async (t) => {
  const table: [check: OptionCheck, good: unknown[], bad: [unknown, RegExp][]][] = [
    [
      notEmpty,
      ['a'],
      [
        ['', /must not be empty/],
        ['  ', /empty/],
        [7, /must be a string, not a value of type number/],
      ],
    ],
    [
      path,
      ['/a/b'],
      [
        ['', /empty/],
        ['a\0b', /NUL/],
        [null, /not null/],
      ],
    ],
    [
      hostForOthers('a.example'),
      ['b.example', '192.0.2.1', '::1'],
      [
        ['', /a host name or an IP address without a port, for example a\.example\./],
        [7, /a host name/],
        ['b.example:80', /without a port, for example b\.example\./],
        ['[::1]:80', /for example ::1\./],
        ['fe80::1%eth0', /for example a\.example\./],
        ['foo bar', /for example a\.example\./],
        ['müller.example', /^Certificates contain ASCII names only: write xn--mller-kva\.example\.$/],
      ],
    ],
    [
      boolean,
      [true, false],
      [
        ['yes', /true or false/],
        [1, /true or false/],
      ],
    ],
    [
      stringOfLength(2, 3),
      ['ab', 'abc'],
      [
        ['a', /2 to 3 characters, not 1/],
        ['abcd', /not 4/],
        [12, /string/],
      ],
    ],
    [
      integer(1, 9),
      [1, 9],
      [
        [0, /from 1 to 9/],
        [1.5, /whole/],
        ['5', /whole/],
        [Number.NaN, /whole/],
      ],
    ],
    [
      oneOf('RSA', 'EC'),
      ['EC'],
      [
        ['ec', /one of RSA, EC\. Did you mean EC\?$/],
        [undefined, /one of RSA, EC\.$/],
      ],
    ],
    [
      listOf(notEmpty),
      [[], ['a']],
      [
        ['a', /must be a list/],
        [['a', ''], /empty/],
      ],
    ],
    [
      objectWith(['run'], 'a runner'),
      [{ run: () => 1 }],
      [
        [{}, /must be a runner\.$/],
        [null, /runner/],
        ['x', /runner/],
      ],
    ],
    [
      log,
      [silentLog, createLog({ write: () => undefined })],
      [
        [true, /createLog\(\)/],
        [{ info: 1 }, /createLog/],
      ],
    ],
  ];
  for (const [check, good, bad] of table) {
    for (const value of good) t.equal(check(value), undefined, String(value));
    for (const [value, sentence] of bad) t.match(check(value), sentence);
  }
});

t.test('an error never repeats the value, which may be a password', async (t) => {
  for (const check of [notEmpty, stringOfLength(20, 30), integer(0, 1), listOf(boolean), boolean])
    t.notMatch(check('hunter2') ?? '', 'hunter2');
});
