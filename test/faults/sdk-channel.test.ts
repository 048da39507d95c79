// SDK clients whose connection delays, loses, repeats, reorders and truncates what they exchange with their router:
// each circuit delivers all bytes in order, or ends with an error on both sides.

import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import t from 'tap';
import { silentLog } from '#lib/log/log.ts';
import { BufferPool } from '#lib/queue/buffer-pool.ts';
import { seededRandom } from '#lib/random.ts';
import { SystemClock } from '#lib/time/clock.ts';
import { Frame, removeHeader } from '#wire/frame.ts';
import { PayloadFlag, SdkHeader, SdkType, XgressType } from '#wire/gen/numbers.ts';
import { TRUE } from '#wire/header-values.ts';
import { Acknowledgement, Payload } from '#wire/xgress-frames.ts';
import { defaultXgressOptions } from '../../agent/config/xgress-defaults.ts';
import { type Destination, PayloadOrigin } from '../../agent/forwarder/destination.ts';
import { Faulter } from '../../agent/forwarder/faulter.ts';
import { Forwarder } from '../../agent/forwarder/forwarder.ts';
import { MetricsRegistry } from '../../agent/metrics/registry.ts';
import { CircuitEnds } from '../../agent/xgress/circuit-ends.ts';
import { enrollDevice, loginOidc, SdkClient } from '../support/clients/sdk-client.ts';
import { FaultyPort } from '../support/hostile/faulty-port.ts';
import { ending } from '../support/networks/overlay.ts';
import { isEmpty, network } from '../support/networks/sdk-network.ts';
import { until } from '../support/until.ts';
import { Client } from './network.ts';

const SEED = Number(process.env.FAULTS_SEED ?? 20261122);
const KIB = 1024;
/** Fractions of frames, and the longest delay in milliseconds, in each direction. */
const WEATHER = { loss: 0.08, duplication: 0.08, delay: 20 };
/** Milliseconds, beside the load of other tests. */
const PATIENCE = 60_000;

/** A service at router b that echoes, and records how its connections ended. */
async function echoing() {
  const ended: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket);
    void ending(socket).then((how) => ended.push(how));
    socket.pipe(socket);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const close = () => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  return { ended, port: (server.address() as AddressInfo).port, close };
}

/** The network of SDK clients, with a faulty port in front of router a and the service `faulty` at router b. */
async function faultyNetwork() {
  const owned = new AsyncDisposableStack();
  const net = owned.use(await network());
  const service = await echoing();
  owned.defer(service.close);
  await net.overlay.addService('faulty', net.b.id, { encrypted: false, port: service.port });
  const listed = () => net.overlay.management.terminators.list();
  await until('the terminators', async () => (await listed()).length === 2);
  const between = owned.use(await FaultyPort.start(net.a.sdkPort));
  const device = await enrollDevice(net.overlay, 'device');
  owned.defer(() => device.http.close());
  const client = await SdkClient.connect(between.port, device, await loginOidc(net.overlay, device));
  owned.defer(() => client.close());
  return { ...net, between, client, service, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

function sha256(...parts: readonly (string | Buffer)[]): string {
  const sum = createHash('sha256');
  for (const part of parts) sum.update(part);
  return sum.digest('hex');
}

t.test(
  'a delayed connection keeps all bytes in order; a cut in the middle of a frame is an error on both sides',
  async (t) => {
    await using net = await faultyNetwork();
    const { a, b, between, client, service } = net;
    const random = seededRandom(SEED);
    between.delay = () => random.next() * 5;
    const { conn, answer } = await client.dialByName('faulty');
    t.equal(answer.contentType, SdkType.StateConnected, answer.body.toString());
    const blocks = Array.from({ length: 64 }, (_none, index) =>
      String(index).padEnd(1 + random.next() * 30 * KIB, '.'),
    );
    for (const block of blocks) conn.send(block);
    const total = blocks.reduce((sum, { length }) => sum + length, 0);
    await until('the echo', () => conn.text.length >= total, PATIENCE);
    t.equal(sha256(conn.text), sha256(...blocks));

    between.delay = () => 0;
    const before = conn.received.length;
    for (let count = 0; count < 400; count++) conn.send(Buffer.alloc(16 * KIB, 'x'));
    await until('bytes to flow', () => conn.received.length > before + 10);
    between.cut();
    await client.channel.closed;
    await until('the service to notice', () => service.ended.length === 1);
    t.same(service.ended, ['ECONNRESET'], 'not the end of a complete stream');
    await until('both routers to be empty', () => isEmpty(a) && isEmpty(b));
  },
);

/**
 * The ends of circuits and the rejections of routers are sent once, by a side that keeps nothing afterwards. They
 * arrive, and in their order: otherwise an end that misses acknowledgements cannot tell whether its data has arrived.
 */
function isSentOnce(payload: Payload): boolean {
  return payload.has(PayloadFlag.CircuitEnd) || payload.has(PayloadFlag.WriteFailed);
}

/** The end of a circuit in a client with its own flow control. Frames of both directions pass a faulty path. */
function faultyEnd(client: SdkClient, circuitId: string, random: () => number) {
  const clock = new SystemClock();
  const log = silentLog;
  const counts = { lost: 0, repeated: 0, delayed: 0 };
  const forwarder = new Forwarder({ clock, log, routerId: 'client' });
  const metrics = new MetricsRegistry(clock, random);
  const faulter = new Faulter(
    { clock, log, controllers: { all: [], byId: () => undefined }, faults: metrics.meter('faults') },
    0,
  );
  const ends = new CircuitEnds({
    buffers: new BufferPool(),
    clock,
    log,
    forwarder,
    metrics,
    faulter,
    onUnroutable: () => undefined,
  });
  const pass = (isLast: boolean, deliver: () => void) => {
    if (isLast) {
      setTimeout(deliver, WEATHER.delay);
      return;
    }
    const copies = random() < WEATHER.duplication ? 2 : 1;
    counts.repeated += copies - 1;
    for (let copy = 0; copy < copies; copy++) {
      if (random() < WEATHER.loss) {
        counts.lost++;
        continue;
      }
      counts.delayed++;
      setTimeout(deliver, random() * WEATHER.delay);
    }
  };
  const send = (bytes: Buffer, isLast = false) => {
    const copy = Buffer.from(bytes);
    pass(isLast, () => void client.channel.lane().trySendFrame(Buffer.from(copy), undefined));
    return true;
  };
  const router: Destination = {
    address: 'router',
    acceptPayload: (payload) => send(payload.bytes, isSentOnce(payload)),
    acceptAcknowledgement: ({ bytes }) => send(bytes),
    acceptControl: ({ bytes }) => send(bytes),
    onceWritable: (_circuitId, task) => setImmediate(task),
  };
  forwarder.registerLink(router);
  forwarder.circuits.open(circuitId, 'c', {}).forwards.set('end', 'router').set('router', 'end');
  const received = (deliver: (frame: Frame) => void) => (frame: Frame) => {
    const copy = Buffer.from(removeHeader(new Frame(Buffer.from(frame.bytes)), SdkHeader.ConnectionId).bytes);
    const isLast = frame.contentType === XgressType.Payload && isSentOnce(Payload.fromFrame(new Frame(copy)));
    pass(isLast, () => deliver(new Frame(Buffer.from(copy))));
  };
  client.frameHandlers.set(
    XgressType.Payload,
    received((frame) => void forwarder.forwardPayload('router', Payload.fromFrame(frame), PayloadOrigin.Forwarded)),
  );
  client.frameHandlers.set(
    XgressType.Acknowledgement,
    received((frame) => void forwarder.forwardAcknowledgement('router', Acknowledgement.fromFrame(frame))),
  );
  const application = new Client();
  const init = {
    circuitId,
    address: 'end',
    role: 'initiator',
    options: defaultXgressOptions(),
    hopType: 'test',
  } as const;
  application.xgress = ends.open(init, application, 'c');
  application.xgress.start();
  return { application, ends, counts, close: () => faulter.close() };
}

t.test(
  'a client with its own flow control, whose frames are lost, repeated and reordered, keeps all bytes',
  async (t) => {
    await using net = await faultyNetwork();
    const { a, b, client, service } = net;
    const { answer } = await client.dialByName('faulty', [[SdkHeader.UseXgressToSdk, TRUE]]);
    t.equal(answer.contentType, SdkType.StateConnected, answer.body.toString());
    const random = seededRandom(SEED);
    const end = faultyEnd(client, answer.string(SdkHeader.CircuitId) ?? '', () => random.next());
    const { application, counts } = end;
    for (let index = 0; index < 600; index++) application.send(Buffer.alloc(1 + random.next() * 8 * KIB, index));
    application.endSending();
    await until('the end', () => application.outcome !== undefined, PATIENCE);
    t.equal(application.outcome, 'complete');
    t.equal(sha256(...application.received), sha256(...application.sent));
    t.ok(counts.lost > 0 && counts.repeated > 0, JSON.stringify(counts));
    await until('the service to end', () => service.ended.length === 1);
    t.same(service.ended, ['closed'], 'without an error');
    await until('the circuit to end', () => end.ends.count === 0);
    end.close();
    client.close();
    await until('both routers to be empty', () => isEmpty(a) && isEmpty(b));
  },
);
