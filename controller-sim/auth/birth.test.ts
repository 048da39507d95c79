// The index of the data that a token names.

import t from 'tap';
import { birthOf } from './birth.ts';
import { headerTokens } from './tokens/bearer-tokens.ts';

const SECRET = '0123456789abcdef'.repeat(4);
const signed = (claims: unknown) => `ey.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.signature`;

t.test('tokens name the index with which they were born', async (t) => {
  t.equal(birthOf([`${SECRET}-17`]), 17n);
  t.equal(birthOf([signed({ z_edi: 18 })]), 18n);
  const authorization = `Bearer ${signed({ z_edi: 18 })}, Bearer ${signed({ z_edi: 19 })}`;
  const headers = { 'zt-session': `${SECRET}-17`, authorization };
  t.equal(birthOf(headerTokens({ headers })), 19n, 'the newest one');
  t.equal(birthOf([]), 0n);
});

t.test('other texts name none', async (t) => {
  const forged = [
    { z_edi: -1 },
    { z_edi: 1.5 },
    { z_edi: '7' },
    { z_edi: 2 ** 60 },
    { z_edi: null },
    null,
    [],
    'text',
    7,
  ];
  const texts = [
    '',
    '-',
    '-7',
    SECRET,
    `${SECRET}-`,
    `${SECRET}-x`,
    `${SECRET}-${'9'.repeat(20)}`,
    'a.b',
    'a.b.c',
    'a..c',
  ];
  for (const text of [...texts, ...forged.map(signed)]) t.equal(birthOf([text]), 0n, text);
  t.equal(birthOf([signed({ z_edi: 7, padding: 'x'.repeat(64 * 1024) })]), 0n, 'a long one');
});
