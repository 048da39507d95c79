// The effect of health check results on a terminator.

import t from 'tap';
import { HostConfigError } from '../config-values.ts';
import { type ActionConfig, readChecks } from './check-config.ts';
import { applyActions, CheckHistory, type Weight } from './check-state.ts';

const CHECK = { address: 'localhost:80', interval: '5s', timeout: '1s' };

function actions(...list: Record<string, unknown>[]): readonly ActionConfig[] {
  return readChecks({ portChecks: [{ ...CHECK, actions: list }] })[0]?.actions ?? [];
}

/**
 * Indexes of triggered actions for a list of results one second apart: one letter each, p for passed and f for failed.
 */
function triggered(results: string, action: Record<string, unknown>): number[] {
  const history = new CheckHistory();
  const configured = actions({ action: 'send event', ...action });
  return [...results].map((result, second) => history.add(result === 'p', second * 1000, configured).length);
}

t.test('results, changes, consecutive results and durations trigger actions', async (t) => {
  t.same(triggered('pfffp', { trigger: 'fail' }), [0, 1, 1, 1, 0]);
  t.same(triggered('pfffp', { trigger: 'pass' }), [1, 0, 0, 0, 1]);
  t.same(triggered('ppffp', { trigger: 'change' }), [1, 0, 1, 0, 1], 'the first result is a change');
  t.same(triggered('fpfffff', { trigger: 'fail', consecutiveEvents: 3 }), [0, 0, 0, 0, 1, 1, 1]);
  t.same(triggered('fffffpf', { trigger: 'fail', duration: '3s' }), [0, 0, 0, 1, 1, 0, 0]);
  t.same(triggered('ppf', { trigger: 'pass', duration: '0s' }), [1, 1, 0]);
  t.same(triggered('pppp', { trigger: 'pass', duration: '2s', consecutiveEvents: 4 }), [0, 0, 0, 1]);
});

t.test('actions change cost and precedence within their bounds', async (t) => {
  const base: Weight = { cost: 10, precedence: 'required' };
  const after = (before: Weight, ...texts: string[]) => {
    const list = actions(...texts.map((action) => ({ trigger: 'fail', action }))).map(({ action }) => action);
    return applyActions(before, base, list);
  };
  t.same(after(base, 'mark unhealthy'), { cost: 10, precedence: 'failed' });
  t.same(after({ cost: 10, precedence: 'failed' }, 'mark healthy'), base, 'back to the configured values');
  t.same(after(base, 'increase cost 100', 'increase cost 5'), { cost: 115, precedence: 'required' });
  t.same(after(base, 'increase cost 65535'), { cost: 65_535, precedence: 'required' });
  t.same(after({ cost: 50, precedence: 'required' }, 'decrease cost 65535'), base, 'never below the configured cost');
  t.same(after({ cost: 10, precedence: 'failed' }, 'increase cost 7'), { cost: 10, precedence: 'failed' });
  t.same(after(base, 'mark unhealthy', 'increase cost 7'), { cost: 17, precedence: 'failed' });
  t.same(after(base, 'send event'), base);
});

t.test('port and HTTP checks are read; an error names the invalid field', async (t) => {
  const http = { url: 'http://localhost/health', interval: '1m', timeout: '500ms' };
  t.match(
    readChecks({
      portChecks: [CHECK],
      httpChecks: [http, { ...http, method: 'POST', body: 'x', expectStatus: 204, expectInBody: 'ok' }],
    }),
    [
      {
        name: 'port localhost:80',
        probe: { kind: 'port', host: 'localhost', port: 80 },
        interval: 5_000,
        timeout: 1_000,
      },
      {
        name: 'GET http://localhost/health',
        probe: { expectStatus: 200, body: undefined },
        interval: 60_000,
        timeout: 500,
      },
      { probe: { method: 'POST', body: 'x', expectStatus: 204, expectInBody: 'ok' } },
    ],
  );
  t.same(readChecks({}), []);
  const often = readChecks({ portChecks: [{ ...CHECK, interval: '20ms' }] });
  t.match(often, [{ interval: 100, tooShort: 20 }], 'not more often than that');
  const unlimited = readChecks({
    portChecks: [{ ...CHECK, timeout: '0s' }],
    httpChecks: [{ ...http, timeout: '0ms' }],
  });
  t.same(
    unlimited.map(({ timeout }) => timeout),
    [60_000, 1_000],
    'timeout 0 is the default',
  );
  const wrong: [Record<string, unknown>, RegExp][] = [
    [{ portChecks: {} }, /portChecks must be a list/],
    [{ portChecks: [{ ...CHECK, address: 'localhost' }] }, /portChecks\.address/],
    [{ portChecks: [{ ...CHECK, interval: '5' }] }, /portChecks\.interval: missing unit/],
    [{ portChecks: [{ ...CHECK, interval: '0s' }] }, /portChecks\.interval must be greater than 0/],
    [{ portChecks: [{ ...CHECK, timeout: '5' }] }, /portChecks\.timeout: missing unit/],
    [{ httpChecks: [{ ...http, url: 'ftp://localhost' }] }, /httpChecks\.url/],
    [{ portChecks: [{ ...CHECK, actions: [{ trigger: 'never', action: 'send event' }] }] }, /actions\.trigger/],
    [{ portChecks: [{ ...CHECK, actions: [{ trigger: 'fail', action: 'increase cost 0' }] }] }, /actions\.action/],
    [{ portChecks: [{ ...CHECK, actions: [{ trigger: 'fail', action: 'reboot' }] }] }, /actions\.action/],
    [{ portChecks: [{ ...CHECK, actions: Array(21).fill({ trigger: 'fail', action: 'send event' }) }] }, /at most 20/],
    [{ portChecks: Array(51).fill(CHECK) }, /at most 50/],
  ];
  for (const [data, message] of wrong)
    t.throws(() => readChecks(data), { name: HostConfigError.name, message }, String(message));
});
