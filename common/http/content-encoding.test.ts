// The choice of a content coding.

import t from 'tap';
import { contentCoding } from './content-encoding.ts';

t.test('the coding with the highest weight is chosen, never one that the client rejects', async (t) => {
  const table: [accepted: string | undefined, chosen: string | undefined][] = [
    [undefined, undefined],
    ['', undefined],
    ['gzip', 'gzip'],
    ['GZIP', 'gzip'],
    ['x-gzip', 'gzip'],
    ['gzip, deflate, br', 'br'],
    ['br;q=0.5, gzip', 'gzip'],
    ['br;q=0, gzip;q=0.1', 'gzip'],
    ['gzip;q=0', undefined],
    ['gzip; q=0.000', undefined],
    ['gzip ;q=0 , br ; q=0.0', undefined],
    ['gzip;q=0, *', 'br'],
    ['*;q=0', undefined],
    ['br;q=0, *;q=0.2', 'gzip'],
    ['identity', undefined],
    ['gzipped, brotli', undefined],
    ['gzip;q=2', undefined],
    ['gzip;q=x', undefined],
    [`${'x,'.repeat(10_000)}gzip`, undefined],
  ];
  for (const [accepted, chosen] of table) t.equal(contentCoding(accepted, ['br', 'gzip']), chosen, accepted ?? 'none');
  t.equal(contentCoding('br', ['gzip']), undefined);
});
