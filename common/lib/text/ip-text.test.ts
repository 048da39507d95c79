// The text of IPv6 addresses in names of certificates and in errors.

import t from 'tap';
import { describeError } from '../errors.ts';
import { compressedIps } from './ip-text.ts';

t.test('addresses of eight groups are compressed, and everything else stays', async (t) => {
  for (const [given, expected] of [
    ['0:0:0:0:0:0:0:1', '::1'],
    [
      'DNS:localhost, IP Address:127.0.0.1, IP Address:FE80:0:0:0:0:0:0:A',
      'DNS:localhost, IP Address:127.0.0.1, IP Address:fe80::a',
    ],
    ['2001:db8::1 and 12:30:45', '2001:db8::1 and 12:30:45'],
    ['a1:b2:c3:d4:e5:f6:a7:b8:c9:d0', 'a1:b2:c3:d4:e5:f6:a7:b8:c9:d0'],
  ] as const)
    t.equal(compressedIps(given), expected);
});

t.test('so are those in errors about the names of a certificate', async (t) => {
  const message = "IP: ::2 is not in the cert's list: 127.0.0.1, 0:0:0:0:0:0:0:1";
  const error = Object.assign(new Error(message), { code: 'ERR_TLS_CERT_ALTNAME_INVALID' });
  t.match(describeError(error), /list: 127\.0\.0\.1, ::1$/);
});
