// Connections to a controller that starts: its port is bound, and nothing serves it yet.

import { once } from 'node:events';
import type { Duplex } from 'node:stream';
import { connect, type TLSSocket } from 'node:tls';
import t, { type Test } from 'tap';
import { silentLog } from '#lib/log/log.ts';
import { IoContext } from '#lib/net/io-context.ts';
import { SystemClock } from '#lib/time/clock.ts';
import { Alpn } from '#wire/connection/tls-port.ts';
import { issue, makeAuthority } from '../../test/support/clients/certificates.ts';
import { Listener } from './listener.ts';

async function starting(t: Test) {
  const { pem: cert, key } = await issue(await makeAuthority('network'), 'controller');
  const authority = { serverContext: () => ({ cert, key: key.export({ type: 'pkcs8', format: 'pem' }) }) };
  const listener = await Listener.open(
    { io: new IoContext({ clock: new SystemClock() }), host: '127.0.0.1', port: 0, log: silentLog },
    authority,
  );
  t.teardown(() => listener.close());
  const dial = async (alpn?: string): Promise<TLSSocket> => {
    const protocols = alpn === undefined ? {} : { ALPNProtocols: [alpn] };
    const where = { host: '127.0.0.1', port: listener.port, rejectUnauthorized: false, ...protocols };
    const socket: TLSSocket = connect(where);
    t.teardown(() => socket.destroy());
    await once(socket, 'secureConnect');
    return socket;
  };
  return { listener, dial };
}

t.test('whoever connects before the controller serves waits, and then gets the answer', async (t) => {
  const { listener, dial } = await starting(t);
  const [peer, browser, plain, gone] = await Promise.all([dial(Alpn.Control), dial(Alpn.Http), dial(), dial()]);
  for (const socket of [peer, browser, plain]) socket.write('hello');
  await once(gone.end().resume(), 'close');
  const served: string[] = [];
  const answer =
    (text: string) =>
    (socket: unknown): void => {
      served.push(text);
      const stream = socket as Duplex;
      stream.on('data', (data) => stream.write(`${text}: ${data}`));
    };
  const answers = [peer, browser, plain].map(async (socket) => String((await once(socket, 'data'))[0]));
  listener.serve({ http: answer('http'), control: answer('control') });
  t.same(await Promise.all(answers), ['control: hello', 'http: hello', 'http: hello']);
  const late = await dial(Alpn.Control);
  late.write('again');
  t.equal(String((await once(late, 'data'))[0]), 'control: again');
  t.same(served.toSorted(), ['control', 'control', 'http', 'http'], 'each of them once');
});

t.test('connections that wait end with a start that fails', async (t) => {
  const { listener, dial } = await starting(t);
  const peer = await dial(Alpn.Control);
  const ended = new Promise((resolve) => peer.resume().once('error', resolve).once('end', resolve));
  await listener.close();
  await ended;
  t.pass('closed');
});
