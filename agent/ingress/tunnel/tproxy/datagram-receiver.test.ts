// Datagrams of a transparent socket, in a network namespace that allows it.

import { execFileSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import type { Worker } from 'node:worker_threads';
import { silentLog } from '#lib/log/log.ts';
import { VirtualClock } from '#lib/time/clock.ts';
import { inOwnNamespace, run } from '../../../../test/support/networks/network-namespace.ts';
import { until } from '../../../../test/support/until.ts';
import { DatagramReceiver } from './datagram-receiver.ts';
import {
  boundAddress,
  closeDescriptor,
  DatagramReader,
  openTransparentReceiver,
  type ReceivedDatagram,
} from './system-calls.ts';

/** Datagrams that may wait between the threads, and some that a socket keeps in any case. */
const LIMIT = 512;
const BATCH = 64;
/** Sends datagrams to a port and ends when the receiver has had time to read them. */
const FLOOD = `
  import { createSocket } from 'node:dgram';
  import { setTimeout as sleep } from 'node:timers/promises';
  const [port, count] = process.argv.slice(1).map(Number);
  const socket = createSocket('udp4');
  for (let sent = 0; sent < count; sent++) {
    await new Promise((resolve) => socket.send('flood', port, '127.0.0.1', resolve));
    if (sent % 100 === 0) await sleep(5);
  }
  await sleep(200);
  socket.close();
`;

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

  t.test('datagrams wait for a busy program up to a limit, which those that were read leave', async (t) => {
    let received = 0;
    const receiver = DatagramReceiver.open(
      { clock: new VirtualClock(), log: silentLog },
      '127.0.0.1',
      () => received++,
    );
    let closing: Promise<void> | undefined;
    const close = () => (closing ??= receiver.close());
    t.after(close);
    const client = createSocket('udp4');
    t.after(() => client.close());
    for (let sent = 0; sent < 2 * LIMIT; sent += BATCH) {
      for (let each = 0; each < BATCH; each++) client.send('one', receiver.port, '127.0.0.1');
      await until('the datagrams', () => received === sent + BATCH);
    }
    received = 0;
    const flood = ['--input-type=module', '-e', FLOOD, String(receiver.port), String(6 * LIMIT)];
    execFileSync(process.execPath, flood); // blocks this program, not the thread
    await until('the datagrams that wait', () => received > 0);
    await close();
    t.ok(received < 2 * LIMIT, `${received} datagrams wait`);
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
