// Links that local uploads keep full: they answer heartbeats, carry payloads of other routers, and retransmit.

import { duplexPair } from 'node:stream';
import t from 'tap';
import { silentLog } from '#lib/log/log.ts';
import { IoContext } from '#lib/net/io-context.ts';
import { BufferBudget } from '#lib/queue/buffer-budget.ts';
import { VirtualClock } from '#lib/time/clock.ts';
import { Underlay } from '#wire/connection/underlay.ts';
import { Frame } from '#wire/frame.ts';
import { XgressType } from '#wire/gen/numbers.ts';
import { Acknowledgement, Payload } from '#wire/xgress-frames.ts';
import { soon } from '../../test/support/rooms/channels.ts';
import { PayloadOrigin } from '../forwarder/destination.ts';
import { Forwarder } from '../forwarder/forwarder.ts';
import { MetricsRegistry } from '../metrics/registry.ts';
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
  const [ours, theirs] = [1, 2].map(() =>
    linkChannel({ io: new IoContext({ clock }), log: silentLog, settings }, init),
  ) as [ReturnType<typeof linkChannel>, ReturnType<typeof linkChannel>];
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
    theirs.addUnderlay(new Underlay({ socket: right, io: new IoContext({ clock }), type }));
    ours.addUnderlay(new Underlay({ socket: left, io: new IoContext({ clock }), type }));
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

/** Adds circuits of an identity, which may come from another link. */
function open(forwarder: Forwarder, ids: readonly string[], clientId: string, from = 'end'): void {
  for (const id of ids) forwarder.circuits.open(id, 'controller', { clientId }).forwards.set(from, 'l');
}

const sixty = Array.from({ length: 60 }, (_none, index) => `x${index}`);

/** The part of a link that the circuit `y` gets while sixty others upload, too: of the payloads until its end. */
async function partOfY({ link, theirs, connect }: ReturnType<typeof rooms>): Promise<number> {
  const received: string[] = [];
  theirs.onFrame(XgressType.Payload, (frame) => void received.push(Payload.fromFrame(frame).circuitId));
  const uploads = sixty.map((circuit) => upload(link, circuit, 500));
  uploads.push(upload(link, 'y', 500));
  connect();
  await Promise.all(uploads);
  link.close();
  return 500 / (received.lastIndexOf('y') + 1);
}

t.test('an identity with sixty circuits leaves half of a link to another', { timeout: 60_000 }, async (t) => {
  const all = rooms({ grouped: true });
  open(all.forwarder, sixty, 'x');
  open(all.forwarder, ['y'], 'y');
  const part = await partOfY(all);
  t.ok(part > 0.4, `${part.toFixed(2)} of the link`);
});

t.test('circuits without an identity share a link by the link on which they come', { timeout: 60_000 }, async (t) => {
  const all = rooms({ grouped: true });
  const hop = { acceptPayload: () => true, acceptAcknowledgement: () => true, acceptControl: () => true };
  for (const address of ['one', 'another'])
    all.forwarder.registerLink({ ...hop, address, isLink: true, onceWritable: () => undefined });
  open(all.forwarder, sixty, '', 'one');
  open(all.forwarder, ['y'], '', 'another');
  const part = await partOfY(all);
  t.ok(part > 0.4, `${part.toFixed(2)} of the link`);
});

t.test('an identity with thousands of circuits leaves memory for the payloads of another', async (t) => {
  const { forwarder, link } = rooms({ grouped: true });
  const many = Array.from({ length: 4_000 }, (_none, index) => `x${index}`);
  open(forwarder, many, 'x');
  open(forwarder, ['y'], 'y');
  const accepted = (circuit: string) =>
    link.acceptPayload(Payload.create(circuit, 0, 0, Buffer.alloc(60 * KIB)), PayloadOrigin.Forwarded);
  for (let turn = 0; turn < 2; turn++) for (const circuit of many) accepted(circuit);
  let count = 0;
  while (count < 8 && accepted('y')) count++;
  t.equal(count, 8, 'as many as the queue of a circuit takes');
  link.close();
});

t.test(
  'ends that found no room for their first payload are called when it is there',
  { timeout: 60_000 },
  async (t) => {
    const { forwarder, link, theirs, connect } = rooms({ grouped: true });
    const many = Array.from({ length: 1_500 }, (_none, index) => `x${index}`);
    open(forwarder, many, 'x');
    theirs.onFrame(XgressType.Payload, () => undefined);
    const large = Buffer.alloc(60 * KIB);
    let [left, refused] = [many.length, 0];
    const send = (circuit: string) => {
      if (link.acceptPayload(Payload.create(circuit, 0, 0, large), PayloadOrigin.Xgress)) left--;
      else {
        refused++;
        link.onceWritable(circuit, () => send(circuit));
      }
    };
    for (const circuit of many) send(circuit);
    t.ok(left > 500, `${left} of them wait`);
    const before = refused;
    connect();
    for (let turn = 0; turn < 5_000 && left > 0; turn++) await soon();
    t.equal(left, 0, 'nobody waits forever');
    t.ok(refused - before < 2 * before, `${refused - before} calls in vain`);
    link.close();
  },
);

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
    theirs.lane(ACK_LANE).trySendFrame(frame.bytes, undefined);
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
