// The forwarder alone: routes, outcomes, and what a removed circuit leaves behind.

import t from 'tap';
import { silentLog } from '#lib/log/log.ts';
import { VirtualClock } from '#lib/time/clock.ts';
import type { Frame } from '#wire/frame.ts';
import { ControlMessageType, XgressHeader } from '#wire/gen/numbers.ts';
import { encodeUint32 } from '#wire/header-values.ts';
import { Acknowledgement, Payload } from '#wire/xgress-frames.ts';
import { type CircuitEnd, type Destination, PayloadOrigin } from './destination.ts';
import { Forwarder } from './forwarder.ts';
import { traceRouteFrame } from './trace-route.ts';

const CIRCUIT = 'circuit';

/** A destination that records what it accepts. */
class Recorder implements Destination {
  readonly address: string;
  readonly isLink: boolean;
  readonly payloads: number[] = [];
  acknowledgements = 0;
  isFull = false;

  constructor(address: string, isLink = true) {
    this.address = address;
    this.isLink = isLink;
  }

  acceptPayload({ sequence }: Payload): boolean {
    if (!this.isFull) this.payloads.push(sequence);
    return !this.isFull;
  }

  acceptAcknowledgement(): boolean {
    if (!this.isFull) this.acknowledgements++;
    return !this.isFull;
  }

  acceptControl(): boolean {
    return !this.isFull;
  }

  onceWritable(_circuitId: string, task: () => void): void {
    task();
  }
}

class End extends Recorder implements CircuitEnd {
  readonly circuitId = CIRCUIT;
  readonly role = 'terminator';
  readonly lastReceived = 0;
  isSettled = false;
  isUnrouted = false;

  constructor(address: string) {
    super(address, false);
  }

  unrouted(): void {
    this.isUnrouted = true;
  }
}

/** A circuit from the end `a` over the link `l`, and back. */
function routed() {
  const clock = new VirtualClock();
  const foreign = { payloads: 0, acks: 0 };
  const forwarder = new Forwarder({
    ...{ clock, log: silentLog, routerId: 'r' },
    foreign: { mark: () => void foreign.payloads++ },
    foreignAcks: { mark: () => void foreign.acks++ },
  });
  const [end, link] = [new End('a'), new Recorder('l')];
  forwarder.registerEnd(end);
  forwarder.registerLink(link);
  const circuit = forwarder.circuits.open(CIRCUIT, 'controller', {});
  circuit.forwards.set('a', 'l').set('l', 'a');
  const payload = (sequence: number, data = 'data') => Payload.create(CIRCUIT, sequence, 0, Buffer.from(data));
  return { clock, forwarder, end, link, circuit, payload, foreign };
}

t.test('payloads and acknowledgements follow the route in both directions, and their bytes are counted', async (t) => {
  const { forwarder, end, link, circuit, payload } = routed();
  t.equal(forwarder.forwardPayload('a', payload(1), PayloadOrigin.Xgress), 'sent');
  t.equal(forwarder.forwardPayload('l', payload(2, 'longer'), PayloadOrigin.Forwarded), 'sent');
  t.equal(forwarder.forwardAcknowledgement('l', Acknowledgement.create(CIRCUIT, 0, 0, 0, [1])), 'sent');
  t.same([link.payloads, end.payloads, end.acknowledgements], [[1], [2], 1]);
  t.same(circuit.fabric, { rx: 'longer'.length, tx: 'data'.length }, 'only bytes over links');
});

t.test('a full destination and a missing route are different outcomes', async (t) => {
  const { forwarder, link, circuit, payload } = routed();
  link.isFull = true;
  t.equal(forwarder.forwardPayload('a', payload(1), PayloadOrigin.Xgress), 'full');
  t.equal(circuit.fabric.tx, 0);
  forwarder.unregisterLink(link);
  t.equal(forwarder.forwardPayload('a', payload(1), PayloadOrigin.Xgress), 'unroutable', 'the link is lost');
  t.equal(forwarder.nextHop(CIRCUIT, 'a'), undefined);
  const unknown = Payload.create('unknown', 0, 0, Buffer.from('x'));
  t.equal(forwarder.forwardPayload('a', unknown, PayloadOrigin.Xgress), 'unroutable');
});

t.test('a source that the circuit does not use gets nothing through, and is counted', async (t) => {
  const { forwarder, end, link, payload, foreign } = routed();
  forwarder.registerLink(new Recorder('other'));
  t.equal(forwarder.forwardPayload('other', payload(1), PayloadOrigin.Forwarded), 'foreign');
  t.equal(forwarder.forwardAcknowledgement('other', Acknowledgement.create(CIRCUIT, 0, 0, 0, [1])), 'foreign');
  t.equal(forwarder.forwardAcknowledgement('other', Acknowledgement.create('unknown', 0, 0, 0, [1])), 'unroutable');
  t.same([end.payloads, link.payloads, end.acknowledgements], [[], [], 0]);
  t.same(foreign, { payloads: 1, acks: 1 });
});

t.test('a trace route request that its answer would make too long for links is dropped', async (t) => {
  const { forwarder, end } = routed();
  const answers: Frame[] = [];
  end.acceptControl = (frame?: Frame) => frame !== undefined && answers.push(frame) > 0;
  const ask = (hops: number, length: number) =>
    forwarder.forwardControl(
      'a',
      traceRouteFrame(ControlMessageType.TraceRoute, CIRCUIT, [
        [XgressHeader.HopCount, encodeUint32(hops)],
        [XgressHeader.HopId, 'x'.repeat(length)],
      ]),
    );
  t.same([ask(1, 1_000), ask(2, 1_000)], ['sent', 'sent']);
  t.equal(answers.length, 1);
  t.same([ask(1, 65_500), ask(2, 65_500)], ['unroutable', 'unroutable']);
  t.equal(answers.length, 1);
});

t.test('retransmissions do not keep an idle circuit alive; all other traffic does', async (t) => {
  const { clock, forwarder, payload } = routed();
  const idle = () => [...forwarder.circuits.idle(1_000)].length;
  await clock.advance(2_000);
  forwarder.forwardPayload('a', payload(1), PayloadOrigin.Retransmission);
  t.equal(idle(), 1);
  forwarder.forwardPayload('a', payload(1), PayloadOrigin.Xgress);
  t.equal(idle(), 0);
});

t.test('a redialed link keeps its routes when the old one goes; a lost one is reported', async (t) => {
  const { forwarder, link, payload } = routed();
  const lost: string[] = [];
  forwarder.onLinkLost((linkId) => lost.push(linkId));
  const redialed = new Recorder('l');
  forwarder.registerLink(redialed);
  forwarder.unregisterLink(link);
  t.equal(forwarder.forwardPayload('a', payload(1), PayloadOrigin.Xgress), 'sent');
  t.same([redialed.payloads, lost], [[1], []]);
  forwarder.unregisterLink(redialed);
  t.same(lost, ['l']);
});

t.test('a removed circuit leaves neither route nor end, and its ends are notified', async (t) => {
  const { forwarder, end, payload } = routed();
  t.ok(forwarder.remove(CIRCUIT));
  t.ok(end.isUnrouted);
  t.same([forwarder.circuits.size, forwarder.endsOf(CIRCUIT), forwarder.addresses()], [0, [], ['l']]);
  t.equal(forwarder.forwardPayload('l', payload(1), PayloadOrigin.Forwarded), 'unroutable');
  t.notOk(forwarder.remove(CIRCUIT), 'it is unknown now');
});
