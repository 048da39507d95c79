// Texts of the dashboard for numbers, times, entries and faults.

import t from 'tap';
import {
  ageText,
  bytesText,
  countText,
  curlText,
  dateText,
  durationText,
  entryCells,
  faultText,
  latencyText,
  prettyBody,
  timeText,
  wordsOf,
} from './format.js';

t.test('numbers and times are short', async (t) => {
  const table: [actual: string, expected: string][] = [
    [latencyText(undefined), '–'],
    [latencyText(0.4235), '0.42 ms'],
    [latencyText(2.55), '2.5 ms'],
    [latencyText(11.6), '12 ms'],
    [latencyText(1_234), '1.2 s'],
    [ageText(0), '0 s'],
    [ageText(59_999), '59 s'],
    [ageText(61_000), '1 min'],
    [ageText(7_500_000), '2 h 5 min'],
    [ageText(90_000_000), '1 d 1 h'],
    [durationText('0s'), '0s'],
    [durationText('31m0s'), '31m'],
    [durationText('24h0m0s'), '24h'],
    [durationText('1h0m5s'), '1h0m5s'],
    [durationText('10s'), '10s'],
    [bytesText(undefined), ''],
    [bytesText(0), '0 B'],
    [bytesText(1_536), '1.5 KiB'],
    [bytesText(3_145_728), '3.0 MiB'],
    [bytesText(5_368_709_120), '5.0 GiB'],
    [dateText(new Date(Date.UTC(2026, 10, 25, 19, 1, 43))), '2026-11-25 19:01:43'],
    [dateText(new Date(Number.NaN)), ''],
    [timeText('2026-11-25T19:01:43.120Z'), '19:01:43.120'],
    [wordsOf('serviceEdgeRouterPolicies'), 'service edge router policies'],
    [countText(1, 'circuit'), '1 circuit'],
    [countText(12_000, 'circuit'), '12,000 circuits'],
    [prettyBody('{"a":1}'), '{\n  "a": 1\n}'],
    [prettyBody('{"a":"cut of'), '{"a":"cut of'],
    [faultText({ id: 'f1', hits: 2, kind: 'http', status: 503, close: true }), 'status=503 close'],
    [faultText({ kind: 'http', answers: [{ status: 503 }] }), 'answers=[{"status":503}]'],
  ];
  for (const [actual, expected] of table) t.equal(actual, expected);
});

t.test('an entry has cells for requests, messages and changes of connections', async (t) => {
  const request = { kind: 'http', method: 'GET', path: '/a', duration: 1, source: '127.0.0.1' };
  t.match(entryCells({ ...request, query: 'b=c', status: 200, identity: { id: 'i', name: 'jane' }, bytes: 10 }), {
    kind: 'GET',
    subject: '/a?b=c',
    outcome: '200',
    size: '10 B',
    who: 'jane',
    level: '',
  });
  t.match(entryCells({ ...request, status: 404 }), { outcome: '404', who: '127.0.0.1', level: 'warn' });
  t.match(entryCells({ ...request, status: 503 }), { level: 'bad' });
  t.match(entryCells({ ...request, status: null }), { outcome: 'no answer', level: 'bad' });
  const control = { kind: 'control', router: { id: 'r', name: 'a' } };
  t.match(entryCells({ ...control, event: 'message', direction: 'in', message: 'Route', bytes: 3 }), {
    kind: '→ in',
    subject: 'Route',
    size: '3 B',
    who: 'a',
  });
  const link = { kind: 'link', router: { id: 'r', name: 'a' }, peer: { id: 's' }, message: 'Payload', bytes: 3 };
  t.match(entryCells({ ...link, direction: 'out' }), { kind: '← link', subject: 'Payload', who: 'a to s' });
  t.match(entryCells({ ...link, direction: 'in' }), { kind: '→ link', size: '3 B', who: 'a from s' });
  t.match(entryCells({ ...control, event: 'disconnected' }), { subject: 'disconnected', level: 'warn' });
  t.match(entryCells({ kind: 'control', event: 'rejected', router: {}, reason: 'unknown' }), {
    subject: 'rejected: unknown',
    who: 'unknown router',
    level: 'bad',
  });
});

t.test('a request becomes a command of a shell', async (t) => {
  const entry = { method: 'POST', path: '/x', query: "filter=name%3D'a'", body: `{"name":"it's"}` };
  t.equal(
    curlText(entry, 'https://127.0.0.1:1'),
    `curl --cacert "$CA" -X POST -H "zt-session: $TOKEN" -H 'content-type: application/json' -d '{"name":"it'\\''s"}' 'https://127.0.0.1:1/x?filter=name%3D'\\''a'\\'''`,
  );
  t.equal(
    curlText({ method: 'GET', path: '/y' }, 'https://h'),
    `curl --cacert "$CA" -H "zt-session: $TOKEN" 'https://h/y'`,
  );
});
