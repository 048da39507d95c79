// Resets of connections in each state of their end.

import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { connect as connectTls, createServer as createTlsServer } from 'node:tls';
import t from 'tap';
import { issue, makeAuthority } from '../../../test/support/clients/certificates.ts';
import { resetSocket } from './reset-socket.ts';

interface Connected {
  readonly client: Socket;
  readonly peer: Socket;
}

async function connected(t: { teardown(task: () => void): void }): Promise<Connected> {
  const server = createServer({ allowHalfOpen: true }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const [[peer]] = (await Promise.all([once(server, 'connection'), once(client, 'connect')])) as [[Socket], unknown];
  t.teardown(() => (client.destroy(), peer.destroy(), server.close()));
  return { client, peer };
}

/** Resolves with whether the peer's connection ended with a reset. */
async function endOf(peer: Socket): Promise<'reset' | 'end'> {
  peer.resume();
  return new Promise((resolve) => {
    peer.once('end', () => resolve('end'));
    peer.once('error', (error: NodeJS.ErrnoException) => resolve(error.code === 'ECONNRESET' ? 'reset' : 'end'));
  });
}

const table: [state: string, prepare: (connection: Connected) => unknown, end: 'reset' | 'end'][] = [
  ['open', () => undefined, 'reset'],
  ['its end is being sent', ({ client }) => client.end(), 'end'],
  ['its end waits for the peer to read', ({ client }) => client.end(Buffer.alloc(32 * 1024 * 1024)), 'reset'],
  ['its end is sent', ({ client }) => once(client.end(), 'finish'), 'end'],
];
for (const [state, prepare, end] of table)
  t.test(`reset, ${state}`, async (t) => {
    const connection = await connected(t);
    await prepare(connection);
    const seen = endOf(connection.peer);
    const closed = once(connection.client, 'close');
    resetSocket(connection.client);
    await closed;
    t.equal(await seen, end);
  });

t.test('a connection that is not established has nothing to reset', async (t) => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const closed = once(client, 'close');
  resetSocket(client);
  await closed;
  resetSocket(client); // nothing to do
});

t.test('a TLS connection is reset below TLS, in the same states', async (t) => {
  const authority = await makeAuthority('authority');
  const { pem, key } = await issue(authority, 'server', { hosts: ['localhost'], purposes: ['server'] });
  const server = createTlsServer({ cert: pem, key: key.export({ type: 'pkcs8', format: 'pem' }), allowHalfOpen: true });
  server.on('secureConnection', (socket) => socket.on('error', () => undefined).resume());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.teardown(() => server.close());
  for (const isEnding of [false, true]) {
    const tcp = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', allowHalfOpen: true });
    await once(tcp, 'connect');
    const client = connectTls({ socket: tcp, ca: authority.certificate.toString('pem') });
    await once(client, 'secureConnect');
    const closed = [once(client, 'close'), once(tcp, 'close')];
    if (isEnding) client.end();
    resetSocket(client, () => tcp.resetAndDestroy());
    await Promise.all(closed);
  }
});
