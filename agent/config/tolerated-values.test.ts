// Values that look wrong, with which routers of the reference start: they do not keep ours from starting.

import t from 'tap';
import { accepted, check, MINIMAL } from '../../test/support/config/router-config.ts';
import type { RouterConfig } from './router-config.ts';

interface Tolerated {
  /** A section in place of the minimal file's one, or a further one. */
  readonly section: string;
  /** The path with a warning, if there is one. */
  readonly warned: string | undefined;
  readonly read: (config: RouterConfig) => unknown;
  readonly used: unknown;
}

const ENDPOINT = 'endpoint: "tls:controller.example:6262"';
const LISTENER = 'bind: "tls:0.0.0.0:6262", advertise: "tls:localhost:6262"';
const controlOptions = (text: string) => `ctrl: {${ENDPOINT}, listeners: [{${LISTENER}, options: {${text}}}]}`;
const dialerOptions = (text: string) => `link: {dialers: [{binding: transport, options: {${text}}}]}`;

const TOLERATED: readonly Tolerated[] = [
  ...['tls:c.example:6262', '{}', '[5]', '["no address"]'].map((endpoints) => ({
    section: `ctrl: {${ENDPOINT}, endpoints: ${endpoints}}`,
    warned: 'ctrl.endpoints',
    read: ({ ctrl }: RouterConfig) => [ctrl.endpoint?.host, ctrl.endpoints],
    used: ['controller.example', undefined],
  })),
  {
    section: `ctrl: {${ENDPOINT}, listeners: [{${LISTENER}, groups: [5, true, edge]}]}`,
    warned: undefined,
    read: ({ ctrl }) => ctrl.listeners[0]?.groups,
    used: ['5', 'true', 'edge'],
  },
  {
    section: `ctrl: {${ENDPOINT}, options: []}`,
    warned: 'ctrl.options',
    read: ({ ctrl }) => ctrl.options.connectTimeout,
    used: 5_000,
  },
  {
    section: `ctrl: {${ENDPOINT}, heartbeats: true}`,
    warned: 'ctrl.heartbeats',
    read: ({ ctrl }) => ctrl.heartbeats.sendInterval,
    used: 10_000,
  },
  {
    section: controlOptions('connectTimeoutMs: 0'),
    warned: 'ctrl.listeners[0].options.connectTimeoutMs',
    read: ({ ctrl }) => ctrl.listeners[0]?.options.connectTimeout,
    used: 30,
  },
  {
    section: controlOptions('connectTimeout: 5m'),
    warned: 'ctrl.listeners[0].options.connectTimeout',
    read: ({ ctrl }) => ctrl.listeners[0]?.options.connectTimeout,
    used: 60_000,
  },
  { section: 'link: []', warned: 'link', read: ({ link }) => link.dialers.length, used: 0 },
  {
    section: 'link: {heartbeats: []}',
    warned: 'link.heartbeats',
    read: ({ link }) => link.heartbeats.closeUnresponsiveTimeout,
    used: 60_000,
  },
  {
    section: dialerOptions('maxOutstandingConnects: 5000'),
    warned: 'link.dialers[0].options.maxOutstandingConnects',
    read: ({ link }) => link.dialers[0]?.options.maxOutstandingConnects,
    used: 1_000,
  },
  {
    section: dialerOptions('maxQueuedConnects: 0'),
    warned: 'link.dialers[0].options.maxQueuedConnects',
    read: ({ link }) => link.dialers.length,
    used: 1,
  },
  { section: 'metrics: 5', warned: 'metrics', read: ({ metrics }) => metrics.reportInterval, used: 60_000 },
  {
    section: 'healthChecks: {ctrlPingCheck: {timeout: 0, initialDelay: 0}, linkCheck: {initialDelay: 0}}',
    warned: undefined,
    read: ({ healthChecks: { ctrlPingCheck, linkCheck } }) => [ctrlPingCheck.initialDelay, linkCheck.initialDelay],
    used: [0, 0],
  },
  {
    section: `ctrl: {${ENDPOINT}, rateLimiter: {minSize: 5, timeout: 0}}`,
    warned: undefined,
    read: ({ ctrl }) => ctrl.rateLimiter?.timeout,
    used: 0,
  },
];

t.test('values with which the reference starts are used, or replaced with a warning', async (t) => {
  const own = new Set(check(MINIMAL).findings.map(({ path }) => path));
  for (const { section, warned, read, used } of TOLERATED) {
    const [key = ''] = section.split(':');
    const others = MINIMAL.split('\n').filter((line) => !line.startsWith(`${key}:`));
    const loaded = check([...others, section].join('\n'));
    t.same(read(accepted(loaded)), used, section);
    const warnings = loaded.findings.filter(({ path, severity }) => severity === 'warning' && !own.has(path));
    t.same([...new Set(warnings.map(({ path }) => path))], warned === undefined ? [] : [warned], section);
  }
});

t.test('other numbers without a unit, and an interval of 0, are still errors', async (t) => {
  for (const [text, message] of [
    ['{linkCheck: {initialDelay: 5}}', /expected a duration.*found the number 5/],
    ['{linkCheck: {interval: 0}}', /out of bounds/],
  ] as const)
    t.match(check(`${MINIMAL}healthChecks: ${text}\n`).findings, [{ severity: 'error', message }], text);
});
