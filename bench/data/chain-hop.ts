// One hop of the bare chain: only passes bytes between plain connections and TLS. Arguments: `entry` (plain in, TLS
// out) or `exit` (TLS in, plain out), the file with certificate and key, then pairs of ports FROM:TO. An entry with
// FROM:TO:plain has no TLS: both ends are plain.

import { readFileSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { connect as connectTls, createServer as createTlsServer } from 'node:tls';

const [role, file = '', ...pairs] = process.argv.slice(2);
const pem = readFileSync(file);

for (const pair of pairs) {
  const [from = 0, to = 0] = pair.split(':', 2).map(Number);
  const next = { host: '127.0.0.1', port: to };
  const dialPlain = () => connect({ ...next, allowHalfOpen: true });
  if (role === 'entry') {
    const dialNext = pair.endsWith(':plain') ? dialPlain : () => connectTls({ ...next, rejectUnauthorized: false });
    createServer({ allowHalfOpen: true }, (socket) => join(socket, dialNext())).listen(from, '127.0.0.1');
  } else {
    createTlsServer({ cert: pem, key: pem, allowHalfOpen: true }, (socket) => join(socket, dialPlain())).listen(
      from,
      '127.0.0.1',
    );
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
