// One hop of the bare chain: only passes bytes between plain connections and TLS. Arguments: `entry` (plain in, TLS
// out) or `exit` (TLS in, plain out), the file with certificate and key, then pairs of ports FROM:TO.

import { readFileSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { connect as connectTls, createServer as createTlsServer } from 'node:tls';

const [role, file = '', ...pairs] = process.argv.slice(2);
const pem = readFileSync(file);

for (const pair of pairs) {
  const [from, to] = pair.split(':').map(Number) as [number, number];
  if (role === 'entry') {
    createServer({ allowHalfOpen: true }, (socket) =>
      join(socket, connectTls({ host: '127.0.0.1', port: to, rejectUnauthorized: false })),
    ).listen(from, '127.0.0.1');
  } else {
    createTlsServer({ cert: pem, key: pem, allowHalfOpen: true }, (socket) =>
      join(socket, connect({ host: '127.0.0.1', port: to, allowHalfOpen: true })),
    ).listen(from, '127.0.0.1');
  }
}

function join(a: Socket, b: Socket): void {
  for (const [from, to] of [
    [a, b],
    [b, a],
  ] as const) {
    from.setNoDelay(true);
    from.on('error', () => to.destroy());
    from.on('close', () => to.destroySoon());
    from.pipe(to);
  }
}
