// Dials that fail after the TCP connection was opened.

import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import t from 'tap';
import { VirtualClock } from '#lib/time/clock.ts';
import { DialError, dialTls } from './dial.ts';

t.test('the connection through a proxy is closed if TLS rejects the certificate of this router', async (t) => {
  const proxy = createServer((socket) => socket.once('data', () => socket.write('HTTP/1.1 200 OK\r\n\r\n')));
  await once(proxy.listen(0, '127.0.0.1'), 'listening');
  const accepted = once(proxy, 'connection') as Promise<[Socket]>;
  const clock = new VirtualClock();
  const dialing = dialTls({
    address: { type: 'tls', host: 'controller.example', port: 1280 },
    context: { cert: 'not a certificate', key: 'not a key' },
    proxy: { host: '127.0.0.1', port: (proxy.address() as AddressInfo).port },
    timeout: 5_000,
    clock,
  });
  await t.rejects(dialing, DialError);
  const [socket] = await accepted;
  t.teardown(() => (socket.destroy(), proxy.close()));
  const open = await new Promise<number>((resolve) => {
    socket.once('close', () => proxy.getConnections((_error, count) => resolve(count)));
    socket.resume();
  });
  t.equal(open, 0);
  t.same(clock.timers(), []);
});
