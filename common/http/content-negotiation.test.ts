// The choice of a content coding and of a media type.

import t from 'tap';
import { contentCoding, mediaType } from './content-negotiation.ts';

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

t.test('the media type with the highest weight is chosen, by the most specific range of the client', async (t) => {
  const table: [accept: string | undefined, chosen: string | undefined][] = [
    [undefined, 'application/json'],
    ['', undefined],
    ['*/*', 'application/json'],
    ['application/*', 'application/json'],
    ['Application/JSON', 'application/json'],
    ['application/json; charset=utf-8', 'application/json'],
    ['text/html', 'text/html'],
    ['text/*', 'text/html'],
    ['text/html, */*;q=0.1', 'text/html'],
    ['text/html;q=0.2, */*;q=0.1', 'text/html'],
    ['text/html;q=0.1, */*', 'application/json'],
    ['application/json;q=0, */*', 'text/html'],
    ['application/json; Q=0.5, text/html; level=1', 'text/html'],
    ['application/*;q=0, application/json', 'application/json'],
    ['*/*;q=0', undefined],
    ['application/x-pem-file', undefined],
    ['application/vnd.x+json', undefined],
    ['application/json;q=2', undefined],
    ['garbage', undefined],
    [', ,', undefined],
    [`${'x/y,'.repeat(10_000)}text/html`, undefined],
  ];
  for (const [accept, chosen] of table)
    t.equal(mediaType(accept, ['application/json', 'text/html']), chosen, accept ?? 'none');
});
