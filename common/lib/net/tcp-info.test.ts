// The system's state of real connections on loopback. Only Linux reports it.

import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import t from 'tap';
import { whyNoSystemLibrary } from '../process/system-library.ts';
import { tcpSensor, unknownTcpState } from './tcp-info.ts';

const reason = whyNoSystemLibrary();

async function pair(t: { teardown(task: () => void): void }): Promise<{ client: Socket; server: Socket }> {
  const listener = createServer({ pauseOnConnect: true });
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  const accepted = new Promise<Socket>((resolve) => listener.once('connection', resolve));
  const client = connect((listener.address() as AddressInfo).port, '127.0.0.1');
  const server = await accepted;
  t.teardown(() => {
    client.destroy();
    server.destroy();
    listener.close();
  });
  return { client, server };
}

t.test('the system tells what has arrived', { skip: reason ?? false }, async (t) => {
  const { client, server } = await pair(t);
  const sensor = tcpSensor(client);
  const state = unknownTcpState();
  t.ok(sensor?.read(state));
  t.ok(state.congestionWindow > 0);
  const before = state.delivered;
  server.resume();
  await new Promise((resolve) => client.write(Buffer.alloc(100_000), resolve));
  while (sensor?.read(state) && state.delivered - before < 100_000) await new Promise(setImmediate);
  t.equal(state.delivered - before, 100_000);
  t.same({ inFlight: state.inFlight, unsent: state.unsent }, { inFlight: 0, unsent: 0 });
  t.ok(state.rtt > 0 && state.rtt < 1_000, `${state.rtt} ms`);
});

t.test('the system tells what it could not send to a peer that reads nothing', { skip: reason ?? false }, async (t) => {
  const { client } = await pair(t);
  const sensor = tcpSensor(client);
  const state = unknownTcpState();
  for (let index = 0; index < 200 && state.unsent === 0; index++) {
    client.write(Buffer.alloc(256 * 1024));
    await new Promise(setImmediate);
    t.ok(sensor?.read(state));
  }
  t.ok(state.unsent > 0);
});

t.test('small packets count with their own size', { skip: reason ?? false }, async (t) => {
  const { client } = await pair(t);
  client.setNoDelay(true);
  const sensor = tcpSensor(client);
  const state = unknownTcpState();
  let max = 0;
  let written = 0;
  // The peer reads nothing, so its system acknowledges late.
  for (let index = 0; index < 200; index++) {
    await new Promise((resolve) => client.write('x', resolve));
    written++;
    t.ok(sensor?.read(state));
    max = Math.max(max, state.inFlight);
  }
  t.ok(max > 0 && max <= written, `${max} bytes in flight, ${written} written`);
});

t.test('a connection continues with another congestion control', { skip: reason ?? false }, async (t) => {
  const { client, server } = await pair(t);
  const sensor = tcpSensor(client);
  t.type(sensor?.congestionControl(), 'string');
  sensor?.setCongestionControl('reno'); // every Linux has it, and lets programs select it
  t.equal(sensor?.congestionControl(), 'reno');
  t.throws(() => sensor?.setCongestionControl('nothing'), {
    code: 'CONGESTION_CONTROL',
    message: /tcp_allowed_congestion_control has no nothing: .*reno/,
  });
  const received = new Promise((resolve) => server.once('data', (bytes) => resolve(String(bytes))));
  server.resume();
  client.write('hello');
  t.equal(await received, 'hello');
});

t.test('a closed connection has no state', { skip: reason ?? false }, async (t) => {
  const { client } = await pair(t);
  const sensor = tcpSensor(client);
  const closed = new Promise((resolve) => client.once('close', resolve));
  client.destroy();
  await closed;
  t.notOk(sensor?.read(unknownTcpState()));
  t.equal(sensor?.congestionControl(), undefined);
  t.doesNotThrow(() => sensor?.setCongestionControl('reno'));
});

t.test('streams other than connections have no sensor', async (t) => {
  t.equal(tcpSensor(new PassThrough()), undefined);
});
