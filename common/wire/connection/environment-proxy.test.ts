// The proxy of the environment, compared with Go's rules.

import t from 'tap';
import { type Environment, proxyFromEnvironment } from './environment-proxy.ts';

const PROXY = 'http://proxy.example:3128';

t.test('HTTPS_PROXY names the proxy, in capitals or not, with or without a scheme and a password', async (t) => {
  const cases: [environment: Environment, expected: unknown][] = [
    [{}, undefined],
    [{ HTTPS_PROXY: '' }, undefined],
    [{ HTTP_PROXY: PROXY }, undefined],
    [{ HTTPS_PROXY: PROXY }, { host: 'proxy.example', port: 3128 }],
    [{ https_proxy: PROXY }, { host: 'proxy.example', port: 3128 }],
    [
      { HTTPS_PROXY: 'first:1', https_proxy: 'second:2' },
      { host: 'first', port: 1 },
    ],
    [
      { HTTPS_PROXY: '', https_proxy: 'second:2' },
      { host: 'second', port: 2 },
    ],
    [{ HTTPS_PROXY: 'proxy.example:3128' }, { host: 'proxy.example', port: 3128 }],
    [{ HTTPS_PROXY: 'http://proxy.example' }, { host: 'proxy.example', port: 80 }],
    [{ HTTPS_PROXY: 'http://[2001:db8::1]:8080/' }, { host: '2001:db8::1', port: 8080 }],
    [{ HTTPS_PROXY: 'http://100%@proxy.example:1' }, { host: 'proxy.example', port: 1, username: '100%' }],
    [
      { HTTPS_PROXY: 'http://me:se%3Acret@proxy.example:1' },
      { host: 'proxy.example', port: 1, username: 'me', password: 'se:cret' },
    ],
  ];
  for (const [environment, expected] of cases)
    t.same(proxyFromEnvironment('ctrl.example', 443, environment), expected, JSON.stringify(environment));
});

t.test('NO_PROXY lists exceptions; this machine is always one', async (t) => {
  const cases: [noProxy: string, host: string, port: number, isProxied: boolean][] = [
    ['', 'ctrl.example', 443, true],
    ['', 'localhost', 443, false],
    ['', '127.0.0.1', 443, false],
    ['', '127.9.9.9', 443, false],
    ['', '::1', 443, false],
    ['', '10.1.2.3', 443, true],
    ['', 'sub.localhost', 443, true],
    ['*', 'ctrl.example', 443, false],
    ['other, *', 'ctrl.example', 443, false],
    ['ctrl.example', 'ctrl.example', 443, false],
    ['CTRL.Example', 'ctrl.example', 443, false],
    ['ctrl.example', 'a.b.ctrl.example', 443, false],
    ['ctrl.example', 'notctrl.example', 443, true],
    ['.ctrl.example', 'ctrl.example', 443, true],
    ['.ctrl.example', 'a.ctrl.example', 443, false],
    ['*.ctrl.example', 'ctrl.example', 443, true],
    ['*.ctrl.example', 'a.ctrl.example', 443, false],
    ['ctrl.example:443', 'ctrl.example', 443, false],
    ['ctrl.example:443', 'ctrl.example', 1280, true],
    ['example', '10.1.2.3', 443, true],
    ['bücher.example', 'xn--bcher-kva.example', 443, false],
    ['10.1.2.3', '10.1.2.3', 443, false],
    ['10.1.2.3:1280', '10.1.2.3', 443, true],
    ['10.0.0.0/8', '10.1.2.3', 443, false],
    ['10.0.0.0/8', '11.1.2.3', 443, true],
    ['10.0.0.0/8', 'ctrl.example', 443, true],
    ['10.0.0.0/33', '10.1.2.3', 443, true],
    ['2001:db8::/32', '2001:db8::7', 443, false],
    ['2001:db8::7', '2001:db8::7', 443, false],
    ['[2001:db8::7]:443', '2001:db8::7', 443, false],
    ['[2001:db8::7]:443', '2001:db8::7', 80, true],
    [' , ,:80,', 'ctrl.example', 80, true],
    ['a.example,ctrl.example , b.example', 'ctrl.example', 443, false],
  ];
  for (const [noProxy, host, port, isProxied] of cases) {
    const found = proxyFromEnvironment(host, port, { HTTPS_PROXY: PROXY, NO_PROXY: noProxy });
    t.equal(found !== undefined, isProxied, `'${noProxy}' for ${host}:${port}`);
  }
  const lower = { https_proxy: PROXY, no_proxy: 'ctrl.example' };
  t.equal(proxyFromEnvironment('ctrl.example', 443, lower), undefined);
});

t.test('a value that is not the address of an HTTP proxy is an error with a remedy, without the value', async (t) => {
  const bad: [value: string, message: RegExp][] = [
    ['socks5://me:secret@proxy.example', /HTTPS_PROXY contains a proxy of type socks5; set it to http:/],
    ['https://proxy.example', /a proxy of type https/],
    ['http://me:secret@', /HTTPS_PROXY contains no address/],
    ['not a host', /no address/],
  ];
  for (const [value, message] of bad) {
    const read = () => proxyFromEnvironment('ctrl.example', 443, { HTTPS_PROXY: value });
    t.throws(read, { code: 'PROXY', message }, value);
    t.throws(read, { message: /^((?!secret).)*$/ });
    t.equal(
      proxyFromEnvironment('localhost', 443, { HTTPS_PROXY: value }),
      undefined,
      'connections to this machine are direct',
    );
  }
});
