// Datagrams of a transparent socket, in a network namespace that allows it.

import { createSocket } from 'node:dgram';
import type { Worker } from 'node:worker_threads';
import { silentLog } from '#lib/log/log.ts';
import { VirtualClock } from '#lib/time/clock.ts';
import { inOwnNamespace, run } from '../../../../test/support/networks/network-namespace.ts';
import { until } from '../../../../test/support/networks/overlay.ts';
import { DatagramReceiver } from './datagram-receiver.ts';
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

  t.test('a thread that ends unexpectedly is replaced', async (t) => {
    const clock = new VirtualClock();
    const received: string[] = [];
    const workers: Worker[] = [];
    const onWorker = (worker: Worker) => void workers.push(worker);
    process.on('worker', onWorker);
    t.after(() => process.off('worker', onWorker));
    const receiver = DatagramReceiver.open({ clock, log: silentLog }, '127.0.0.1', ({ data }) =>
      received.push(data.toString()),
    );
    const client = createSocket('udp4');
    t.after(() => client.close());
    const arrives = (text: string) =>
      until(text, () => {
        client.send(text, receiver.port, '127.0.0.1');
        return received.includes(text);
      });
    await arrives('before');
    const ended = workers[0]?.terminate();
    client.send('wakes the thread', receiver.port, '127.0.0.1');
    await ended;
    await clock.advance(1_000);
    await arrives('after');
    await receiver.close();
    t.same(clock.timers(), []);
  });
}
