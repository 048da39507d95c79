// Requests of strangers with long addresses and headers: their cost grows with their length, not faster.

import { connect } from 'node:tls';
import t from 'tap';
import { startSimulator } from '../../entry/sim.ts';

/** Processor milliseconds of one request, of both sides, with its handshake: the least of some attempts. */
const MAX_CPU = 200;
const ATTEMPTS = 5;
const END = 'host: x\r\nconnection: close\r\n\r\n';

const REQUESTS: readonly (readonly [name: string, line: string, header?: string])[] = [
  ['parents of a path', `GET /${'../'.repeat(20_000)}`],
  ['parents of an operation', `GET /edge/management/v1/${'../'.repeat(19_000)}`],
  ['slashes', `GET ${'/'.repeat(60_000)}`],
  ['segments', `GET ${'/x'.repeat(30_000)}`],
  ['segments of an unknown method', `OPTIONS ${'/x'.repeat(30_000)}`],
  ['encoded characters', `GET /${'%41'.repeat(20_000)}`],
  ['parameters', `GET /edge/client/v1/versions?${'a&'.repeat(30_000)}`],
  ['console', `GET /zac/${'../'.repeat(19_000)}`],
  ['OIDC', `GET /oidc/${'x/'.repeat(29_000)}`],
  ['lab', `GET /lab/v1/journal?path=${'/x'.repeat(29_000)}`],
  ['bearer tokens', 'GET /edge/management/v1/identities', `authorization: ${'Bearer a,'.repeat(6_000)}`],
  [
    'signed tokens',
    'GET /edge/client/v1/services',
    `authorization: ${'Bearer eyJhbGciOiJFUzI1NiJ9.e30.aa,'.repeat(1_700)}`,
  ],
  [
    'basic authorization',
    'POST /oidc/oauth/token',
    `authorization: Basic ${'QQ=='.repeat(14_000)}\r\ncontent-length: 0`,
  ],
  ['content types', 'GET /version', `accept: ${'a/b;q=0.1,'.repeat(5_900)}`],
  ['content codings', 'GET /version', `accept-encoding: ${'gzip;q=0.1,'.repeat(5_300)}`],
  ['headers', 'GET /version', 'a: b\r\n'.repeat(1_500).trimEnd()],
  ['cookies', 'GET /version', `cookie: ${'a=b; '.repeat(11_000)}`],
  ['ranges', 'GET /version', `range: bytes=${'0-1,'.repeat(14_000)}`],
];

t.test('no request of 60 KB takes long', { timeout: 60_000 }, async (t) => {
  const simulator = await startSimulator();
  t.teardown(() => simulator.close());
  const { hostname: host, port } = new URL(simulator.baseUrl);
  const ask = (text: string) =>
    new Promise<string>((resolve, reject) => {
      const socket = connect({ host, port: Number(port), ca: simulator.ca, ALPNProtocols: ['http/1.1'] });
      let answer = '';
      socket.setEncoding('latin1').on('data', (data) => {
        answer += data;
      });
      socket.on('error', reject).on('close', () => resolve(answer));
      socket.write(text);
    });
  await ask(`GET /version HTTP/1.1\r\n${END}`);
  for (const [name, line, header] of REQUESTS) {
    const text = `${line} HTTP/1.1\r\n${header === undefined ? '' : `${header}\r\n`}${END}`;
    let least = Number.POSITIVE_INFINITY;
    for (let attempt = 0; attempt < ATTEMPTS && least >= MAX_CPU; attempt++) {
      const before = process.cpuUsage();
      const answer = await ask(text);
      const { user, system } = process.cpuUsage(before);
      t.match(answer, /^HTTP\/1\.1 [24]\d\d /, name);
      least = Math.min(least, (user + system) / 1_000);
    }
    t.ok(least < MAX_CPU, `${name}: ${least} ms`);
  }
});
