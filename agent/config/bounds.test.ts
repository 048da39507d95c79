// Values out of bounds that the router replaces: each has a warning with the value in use.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { accepted, withMore } from '../../test/support/config/router-config.ts';
import { explain } from './explain.ts';
import type { RouterConfig } from './router-config.ts';

const tunnel = (option: string) => `edge: {}\nlisteners: [{binding: tunnel, options: {mode: host, ${option}}}]`;
const tunnelOption = (name: string) => (config: RouterConfig) =>
  new Map<string, unknown>(Object.entries(config.listeners[0]?.options ?? {})).get(name);

/** Key, a section with VALUE, its value in the configuration, and pairs: a value, and what is used instead. */
const REPLACED: readonly [
  key: string,
  section: string,
  read: (config: RouterConfig) => unknown,
  ...pairs: (readonly [given: string, shown: string, used: unknown])[],
][] = [
  [
    'listeners[0].options.udpIdleTimeout',
    tunnel('udpIdleTimeout: VALUE'),
    tunnelOption('udpIdleTimeout'),
    ['4999ms', '5m', 300_000],
    ['0s', '5m', 300_000],
  ],
  [
    'listeners[0].options.udpCheckInterval',
    tunnel('udpCheckInterval: VALUE'),
    tunnelOption('udpCheckInterval'),
    ['999ms', '30s', 30_000],
  ],
  ['listeners[0].options.maxRttScale', tunnel('maxRttScale: VALUE'), tunnelOption('maxRttScale'), ['1', '2', 2]],
  [
    'dialers[0].options.maxRttScale',
    'dialers: [{binding: transport, options: {maxRttScale: VALUE}}]',
    ({ dialers }) => dialers[0]?.options.maxRttScale,
    ['1', '2', 2],
  ],
  [
    'edge.heartbeatIntervalSeconds',
    'edge: {heartbeatIntervalSeconds: VALUE}',
    ({ edge }) => edge?.heartbeatIntervalSeconds,
    ['9', '60', 60],
    ['61', '60', 60],
  ],
  [
    'edge.sessionValidateChunkSize',
    'edge: {sessionValidateChunkSize: VALUE}',
    ({ edge }) => edge?.sessionValidateChunkSize,
    ['0', '1', 1],
  ],
  [
    'edge.sessionValidateMinInterval',
    'edge: {sessionValidateMinInterval: VALUE}',
    ({ edge }) => edge?.sessionValidateMinInterval,
    ['-1s', '0s', 0],
  ],
  [
    'edge.dbSaveIntervalSeconds',
    'edge: {dbSaveIntervalSeconds: VALUE}',
    ({ edge }) => edge?.dbSaveIntervalSeconds,
    ['29', '30', 30],
  ],
  [
    'ctrl.options.outQueueSize',
    'ctrl: {endpoint: "tls:c:1", options: {outQueueSize: VALUE}}',
    ({ ctrl }) => ctrl.options.outQueueSize,
    ['4', '4096', 4_096],
  ],
  [
    'connectEvents.batchInterval',
    'connectEvents: {batchInterval: VALUE}',
    ({ connectEvents }) => connectEvents.batchInterval,
    ['11m', '10m', 600_000],
  ],
  [
    'metrics.intervalAgeThreshold',
    'metrics: {intervalAgeThreshold: VALUE}',
    ({ metrics }) => metrics.intervalAgeThreshold,
    ['0s', '80s', 80_000],
    ['-1m', '80s', 80_000],
  ],
];

t.test('a value that is replaced has a warning, and a value within the bounds is used', async (t) => {
  for (const [key, section, read, ...pairs] of REPLACED) {
    for (const [given, shown, used] of pairs) {
      const loaded = withMore(section.replace('VALUE', given));
      t.equal(read(accepted(loaded)), used, `${key}: ${given}`);
      const found = loaded.findings.filter(({ path }) => path === key);
      t.match(
        found,
        [
          {
            severity: 'warning',
            code: 'CFG-RANGE',
            message: new RegExp(`^${given} is out of bounds, ${shown}[0s]* is used$`),
          },
        ],
        key,
      );
      t.match(found[0]?.hint, /^allowed (is at least|are) /, key);
    }
  }
  const usual = withMore(tunnel('udpIdleTimeout: 5s, udpCheckInterval: 1s, maxRttScale: 0'));
  t.match(accepted(usual).listeners[0]?.options, { udpIdleTimeout: 5_000, udpCheckInterval: 1_000, maxRttScale: 0 });
  t.same(
    usual.findings.filter(({ code }) => code === 'CFG-RANGE'),
    [],
  );
});

t.test('an empty list of groups and contradicting intervals are reported', async (t) => {
  const groups = withMore('link: {dialers: [{binding: transport, groups: []}]}');
  t.same(accepted(groups).link.dialers[0]?.groups, ['default']);
  t.match(
    groups.findings.find(({ path }) => path === 'link.dialers[0].groups'),
    { severity: 'warning', code: 'CFG-VALUE', message: 'the list is empty, default is used' },
  );
  const intervals = withMore('edge: {sessionValidateMinInterval: 5s}');
  t.match(
    intervals.findings.find(({ path }) => path === 'edge.sessionValidateMaxInterval'),
    {
      severity: 'warning',
      code: 'CFG-RANGE',
      message: /^1\.5s is shorter than sessionValidateMinInterval, 5s is used$/,
    },
  );
});

t.test('the reference page and `config explain` have the bounds', async (t) => {
  const page = readFileSync(join(import.meta.dirname, '../../docs/reference/router-config.md'), 'utf8');
  t.match(page, /udpIdleTimeout` \| duration \| `5m` \| 5s\.\.; else the default is used \|/);
  t.match(page, /edge\.dbSaveIntervalSeconds` \| whole number \| `30` \| 30\.\.; else the nearest is used \|/);
  t.match(explain('edge.heartbeatIntervalSeconds').text, /allowed: 10 to 60; else the default is used/);
  t.match(explain('dialers[].options.maxRttScale').text, /allowed: at least 2, or 0; else the nearest is used/);
});
