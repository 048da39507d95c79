// Links that local uploads keep full: they answer heartbeats, carry payloads of other routers, and retransmit.

import { duplexPair } from 'node:stream';
import t from 'tap';
import { silentLog } from '#lib/log/log.ts';
import { VirtualClock } from '#lib/time/clock.ts';
import { Underlay } from '#wire/connection/underlay.ts';
import { Frame } from '#wire/frame.ts';
import { XgressType } from '#wire/gen/numbers.ts';
import { Acknowledgement, Payload } from '#wire/xgress-frames.ts';
import { soon } from '../../test/support/rooms/channels.ts';
import { PayloadOrigin } from '../forwarder/destination.ts';
import { Forwarder } from '../forwarder/forwarder.ts';
import { MetricsRegistry } from '../metrics/registry.ts';
import { BufferBudget } from '../xgress/buffer-budget.ts';
import { ACK_LANE, Link, LinkUnderlay } from './link.ts';
import { linkChannel } from './link-dialer.ts';
import { LinkMetrics } from './link-metrics.ts';

const SECOND = 1_000;
const KIB = 1_024;
const HEARTBEAT = { sendInterval: 10 * SECOND, checkInterval: SECOND, closeUnresponsiveTimeout: 60 * SECOND };

/** A link, and the channel of the other router, which reads everything. */
function rooms({ grouped }: { grouped: boolean }) {
  const clock = new VirtualClock();
  const settings = {
    payloadQueueLength: 8,
    payloadBudget: new BufferBudget(),
    ackQueueLength: 8,
    heartbeat: HEARTBEAT,
  };
  const init = { linkId: 'l', peerId: 'peer', connectionId: 'c', grouped, writeTimeout: 0 };
  const [ours, theirs] = [1, 2].map(() => linkChannel({ clock, log: silentLog, settings }, init)) as [
    ReturnType<typeof linkChannel>,
    ReturnType<typeof linkChannel>,
  ];
  const forwarder = new Forwarder({ clock, log: silentLog, routerId: 'own' });
  const metrics = new LinkMetrics(new MetricsRegistry(clock, () => 0.5), 'l');
  const link = new Link(
    { clock, log: silentLog, forwarder, metrics, onUnroutable: () => undefined },
    {
      id: 'l',
      key: 'key',
      peerId: 'peer',
      peerVersion: '',
      iteration: 1,
      dialed: true,
      protocol: 'tls',
      address: '',
      payloads: ours,
      acknowledgements: ours,
    },
  );
  forwarder.registerLink(link);
  const connect = () => {
    const [left, right] = duplexPair();
    const type = grouped ? LinkUnderlay.Default : '';
    theirs.addUnderlay(new Underlay({ socket: right, clock, type }));
    ours.addUnderlay(new Underlay({ socket: left, clock, type }));
  };
  return { clock, forwarder, link, ours, theirs, connect };
}

/** Keeps the link full with payloads of a local end, until all are sent. */
function upload(link: Link, circuitId: string, count: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const payload = Payload.create(circuitId, 0, 0, Buffer.alloc(KIB));
  let left = count;
  const send = () => {
    while (left > 0 && link.acceptPayload(payload, PayloadOrigin.Xgress)) left--;
    if (left > 0 && !link.isClosed) link.onceWritable(circuitId, send);
    else resolve();
  };
  send();
  return promise;
}

for (const grouped of [true, false]) {
  const name = grouped ? 'grouped' : 'single';
  t.test(`both routers get answers to their heartbeats over a full ${name} link`, { timeout: 60_000 }, async (t) => {
    const { clock, link, ours, theirs, connect } = rooms({ grouped });
    const answered = [ours, theirs].map((channel) => new Promise<number>((resolve) => channel.onLatency(resolve)));
    theirs.onFrame(XgressType.Payload, () => undefined);
    theirs.setReading(false);
    connect();
    const uploaded = upload(link, 'circuit', 1_000);
    await clock.advance(HEARTBEAT.checkInterval);
    await soon(); // the other router's question arrives
    theirs.setReading(true);
    await uploaded;
    t.equal((await Promise.all(answered)).length, 2);
    link.close();
  });
}

t.test('local uploads leave places for payloads that cannot wait', async (t) => {
  const { link } = rooms({ grouped: true });
  void upload(link, 'circuit', 1_000);
  for (const origin of [PayloadOrigin.Forwarded, PayloadOrigin.Relayed])
    t.ok(link.acceptPayload(Payload.create('other', 0, 0, Buffer.alloc(KIB)), origin), origin);
  link.close();
});

t.test('waiting ends get places in turn', { timeout: 60_000 }, async (t) => {
  const { link, theirs, connect } = rooms({ grouped: true });
  const received: string[] = [];
  theirs.onFrame(XgressType.Payload, (frame) => void received.push(Payload.fromFrame(frame).circuitId));
  const uploads = ['first', 'second'].map((circuit) => upload(link, circuit, 500));
  connect();
  await Promise.all(uploads);
  const shared = received.slice(0, received.lastIndexOf('first'));
  t.ok(shared.filter((circuit) => circuit === 'second').length > 100);
  link.close();
});

t.test('circuits share a link by bytes, and a light one passes those that wait', { timeout: 60_000 }, async (t) => {
  const { link, theirs, connect } = rooms({ grouped: true });
  const received: string[] = [];
  theirs.onFrame(XgressType.Payload, (frame) => void received.push(Payload.fromFrame(frame).circuitId));
  const large = (circuit: string) => Payload.create(circuit, 0, 0, Buffer.alloc(32 * KIB));
  for (let count = 0; count < 15; count++)
    for (const circuit of ['first', 'second', 'third']) link.acceptPayload(large(circuit), PayloadOrigin.Forwarded);
  link.acceptPayload(Payload.create('light', 0, 0, Buffer.alloc(KIB)), PayloadOrigin.Forwarded);
  connect();
  for (let turn = 0; turn < 2_000 && received.length < 46; turn++) await soon();
  t.equal(received.length, 46, 'none is dropped');
  t.ok(received.indexOf('light') < 20, `${received.indexOf('light')} payloads precede it`);
  const [first, second] = ['first', 'second'].map(
    (circuit) => received.slice(0, 30).filter((id) => id === circuit).length,
  );
  t.ok(Math.abs((first ?? 0) - (second ?? 0)) <= 3, `${first} and ${second}`);
  link.close();
});

t.test('a transit router slows down senders whose payloads wait for its link', async (t) => {
  const { forwarder, link, theirs, connect } = rooms({ grouped: true });
  const reported: number[] = [];
  const source = {
    address: 'source',
    acceptPayload: () => true,
    acceptAcknowledgement: ({ receiveBufferSize, bytes }: Acknowledgement) => {
      const passed = Acknowledgement.fromFrame(new Frame(Buffer.from(bytes)));
      return reported.push(passed.receiveBufferSize - receiveBufferSize) > 0;
    },
    acceptControl: () => true,
    onceWritable: () => undefined,
  };
  forwarder.registerLink(source);
  const circuit = forwarder.circuits.open('circuit', 'controller', {});
  circuit.forwards.set('l', 'source');
  connect();
  await soon();
  const acknowledged = async () => {
    const before = reported.length;
    const frame = Acknowledgement.create('circuit', 0, 1_000, 0, [0]);
    theirs.trySendFrame(frame.bytes, undefined, ACK_LANE);
    for (let turn = 0; turn < 100 && reported.length === before; turn++) await soon();
    return reported.at(-1) ?? 0;
  };
  t.equal(await acknowledged(), 0, 'nothing waits');
  theirs.setReading(false);
  const large = Payload.create('circuit', 0, 0, Buffer.alloc(64 * KIB));
  let accepted = 0;
  while (accepted < 1_000 && link.acceptPayload(large, PayloadOrigin.Forwarded)) accepted++;
  t.ok(accepted < 1_000, 'the queue of a circuit has a limit');
  const added = await acknowledged();
  t.ok(added > 512 * KIB, `${added} bytes are added`);
  link.close();
});
