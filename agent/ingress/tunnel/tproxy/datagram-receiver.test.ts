// Datagrams of a transparent socket, in a network namespace that allows it.

import { createSocket } from 'node:dgram';
import { inOwnNamespace, run } from '../../../../test/support/network-namespace.ts';
import { until } from '../../../../test/support/overlay.ts';
import {
  boundAddress,
  closeDescriptor,
  DatagramReader,
  openTransparentReceiver,
  type ReceivedDatagram,
} from './system-calls.ts';

if (await inOwnNamespace(import.meta.filename, ['ip'])) await tests();

async function tests(): Promise<void> {
  const { default: t } = await import('tap');
  run('ip', 'link', 'set', 'lo', 'up');

  t.test('a datagram has its own memory, because the other thread copies all of it', async (t) => {
    const socket = openTransparentReceiver({ host: '127.0.0.1', port: 0 });
    t.after(() => closeDescriptor(socket));
    const { host, port } = boundAddress(socket);
    const client = createSocket('udp4');
    t.after(() => client.close());
    client.send('forty bytes or fewer', port, host);
    const reader = new DatagramReader(socket);
    let datagram: ReceivedDatagram | undefined;
    await until('the datagram', () => {
      datagram = reader.read();
      return datagram !== undefined;
    });
    t.equal(String(datagram?.data), 'forty bytes or fewer');
    t.equal(datagram?.data.buffer.byteLength, 20);
    t.same(datagram?.destination, { host, port });
  });
}
