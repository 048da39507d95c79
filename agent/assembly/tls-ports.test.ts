// Ports whose listeners end while the router runs.

import { once } from 'node:events';
import { connect, type TLSSocket } from 'node:tls';
import t from 'tap';
import { silentLog } from '#lib/log/log.ts';
import { IoContext } from '#lib/net/io-context.ts';
import { SystemClock } from '#lib/time/clock.ts';
import { Alpn } from '#wire/connection/tls-port.ts';
import { issue, makeAuthority } from '../../test/support/clients/certificates.ts';
import { Identity } from '../identity/identity.ts';
import { TlsPorts } from './tls-ports.ts';

t.test('open connections survive the end of their listener, until the router stops', async (t) => {
  const { pem, key } = await issue(await makeAuthority('network'), 'router');
  const config = {
    cert: `pem:${pem}`,
    key: `pem:${key.export({ type: 'pkcs8', format: 'pem' })}`,
    alt_server_certs: [],
  };
  const clock = new SystemClock();
  const identity = await Identity.open({ config, clock, log: silentLog });
  const ports = new TlsPorts({ io: new IoContext({ clock }), identity, log: silentLog, handshakeTimeout: 60_000 });
  const port = await ports.at('127.0.0.1', 0);
  const endListener = port.handle(Alpn.Link, (socket) => socket.pipe(socket));
  const where = { host: '127.0.0.1', port: port.address.port, rejectUnauthorized: false, ALPNProtocols: [Alpn.Link] };
  const link: TLSSocket = connect(where);
  await once(link, 'secureConnect');
  const echoed = async () => {
    link.write('payload');
    return String(await Promise.race([once(link, 'data'), once(link, 'close')]));
  };
  t.equal(await echoed(), 'payload');
  endListener();
  ports.closeUnused();
  t.equal(await echoed(), 'payload', 'after the end of its listener');
  const [error] = await once(connect(where), 'error');
  t.equal(error.code, 'ECONNREFUSED');
  const ended = once(link, 'close');
  await ports.close();
  await ended;
  t.pass('closed with the router');
});
