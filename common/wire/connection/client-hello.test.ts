// The first messages of TLS clients: real ones, and broken ones.

import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { type ConnectionOptions, connect } from 'node:tls';
import t from 'tap';
import { seededRandom } from '#lib/random.ts';
import { helloProtocols } from './client-hello.ts';

/** The first bytes of a client. */
async function firstBytes(options: ConnectionOptions): Promise<Buffer> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', ...options });
  client.on('error', () => undefined);
  const [socket] = (await once(server, 'connection')) as [Socket];
  const [bytes] = (await once(socket, 'data')) as [Buffer];
  client.destroy();
  server.close();
  return bytes;
}

t.test('the protocols of real clients', async (t) => {
  const options = { servername: 'router.example', ALPNProtocols: ['h2', 'ziti-link'] };
  for (const maxVersion of ['TLSv1.3', 'TLSv1.2'] as const)
    t.same(helloProtocols(await firstBytes({ ...options, maxVersion })), ['h2', 'ziti-link']);
  t.same(helloProtocols(await firstBytes({})), []);
});

t.test('a part of the message, another message, and another protocol tell nothing', async (t) => {
  const bytes = await firstBytes({ servername: 'router.example', ALPNProtocols: ['ziti-link'] });
  for (let length = 0; length < bytes.length; length++) t.same(helloProtocols(bytes.subarray(0, length)), []);
  t.same(helloProtocols(Buffer.concat([bytes, Buffer.from('more')])), ['ziti-link']);
  t.same(helloProtocols(Buffer.from('GET / HTTP/1.1\r\n\r\n')), []);
  const alert = Buffer.from(bytes);
  alert[0] = 21;
  t.same(helloProtocols(alert), []);
  const other = Buffer.from(bytes);
  other[5] = 2;
  t.same(helloProtocols(other), []);
});

t.test('changed bytes never lead beyond the message', async (t) => {
  const bytes = await firstBytes({ servername: 'router.example', ALPNProtocols: ['ziti-link'] });
  const random = seededRandom(1);
  for (let round = 0; round < 20_000; round++) {
    const changed = Buffer.from(bytes);
    for (let count = 1 + random.next() * 4; count > 0; count--)
      changed[Math.floor(random.next() * changed.length)] = Math.floor(random.next() * 256);
    for (const text of helloProtocols(changed)) if (text.length > bytes.length) t.fail('longer than the message');
  }
});
