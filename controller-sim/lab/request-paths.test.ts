// Prefixes and patterns of paths, and those that no request can have.

import t from 'tap';
import { matchesPath, requirePath } from './request-paths.ts';

t.test('patterns match whole paths, others prefixes', async (t) => {
  const table: [pattern: string, path: string, matches: boolean][] = [
    ['/a', '/abc', true],
    ['/a', '/b', false],
    ['/a*', '/abc', true],
    ['/a/*', '/a', false],
    ['/a/*', '/a/', true],
    ['*/c', '/a/b/c', true],
    ['*/c', '/a/b/c/d', false],
    ['/a/*/c', '/a/c', false],
    ['/a/*/c', '/a/b/b/c', true],
    ['/a*a', '/a', false],
    ['*', '/anything', true],
    ['**', '', true],
    ['/x*y*y', '/xy', false],
    ['/x*y*y', '/xyy', true],
  ];
  for (const [pattern, path, matches] of table) t.equal(matchesPath(pattern, path), matches, `${pattern} ${path}`);
  const hostile = `/${'*a'.repeat(400)}*b`;
  t.equal(matchesPath(hostile, `/${'a'.repeat(100_000)}`), false, 'in linear time');
});

t.test('a path that no request can have is rejected, with the one that was meant', (t) => {
  const possible = [
    ...['/', '*', '**', '/edge', '/edge/', '/edge/client', '/edge/client/v1/services', '/services', '/version'],
    ...['/edge/management/v1/identities/abc', '/edge/management/v1/identities/abc/', '/edge/management/v1/serv'],
    ...[
      '/edge/management/v1/identities/abc/enrollments',
      '/fabric/v1/routers',
      '/oidc/oauth/token',
      '/oidc',
      '/metrics',
    ],
    ...['*/services', '/edge/*/v1/services', '*/identities/abc', '/edge/*enroll*', '/zac/index.html', '/health-checks'],
  ];
  for (const path of possible) t.doesNotThrow(() => requirePath(path), path);
  const impossible: [path: string, message: RegExp][] = [
    ['', /begin with/],
    ['services', /begin with \/ or \*/],
    ['/edge/managment/v1/services', /no operation has the path .*; did you mean \/edge\/management\/v1\/services\?/],
    ['/edge/client/v1/servicse', /did you mean \/edge\/client\/v1\/services\?/],
    ['/edge/management/v1/identities/abc/enrolments', /./],
    ['/edge/client/v2', /./],
    ['/none', /see `operations` for the paths/],
    ['/lab/v1/faults', /./],
    ['/edge/*/no/such/end', /./],
    ['/edge/typo/*', /./],
    [`/${'a/'.repeat(400)}`, /./],
  ];
  for (const [path, message] of impossible) t.throws(() => requirePath(path), message, path);
  t.end();
});
