// The states of one end of a circuit: all transitions, and those that the ends of its peer cause.

import t from 'tap';
import { InvariantError } from '#lib/errors.ts';
import { PayloadFlag, PayloadHeader } from '#wire/gen/numbers.ts';
import { Payload } from '#wire/xgress-frames.ts';
import { alone, CALM, Circuit } from '../../test/support/rooms/circuit.ts';
import { isFin } from './end-marks.ts';
import {
  hasPeerEnded,
  inspectionFlags,
  isEnding,
  isReceiving,
  isRouted,
  isSending,
  nextXgressState,
  XGRESS_TRANSITIONS,
  type XgressEvent,
  type XgressState,
} from './xgress-states.ts';

interface ExpectedState {
  readonly next: Partial<Record<XgressEvent, XgressState>>;
  /**
   * s: the client may send. r: it needs data. n: the network carries payloads. p: the peer ended. e: the end is near.
   */
  readonly facts: string;
}

t.test('inspections show which sides of an end have ended, and whether it is closed', async (t) => {
  const [closed, peerEnded, localEnded] = [1, 2, 4];
  const flags: Record<XgressState, number> = {
    waiting: 0,
    open: 0,
    sendingEnded: localEnded,
    receivingEnded: peerEnded,
    discarding: localEnded,
    draining: peerEnded | localEnded,
    delivering: localEnded,
    delivered: peerEnded | localEnded,
    closed: closed | localEnded,
  };
  for (const [state, expected] of Object.entries(flags))
    t.equal(inspectionFlags(state as XgressState), expected, state);
});

t.test('an end of a circuit has exactly the expected transitions', async (t) => {
  const close = 'closed';
  const expected: Record<XgressState, ExpectedState> = {
    waiting: { facts: 'n', next: { start: 'open', close } },
    open: {
      facts: 'srn',
      next: { endSending: 'sendingEnded', endReceiving: 'receivingEnded', unroute: 'delivering', close },
    },
    sendingEnded: {
      facts: 'rn',
      next: { endReceiving: 'draining', discard: 'discarding', unroute: 'delivering', close },
    },
    receivingEnded: { facts: 'snp', next: { endSending: 'draining', unroute: 'delivered', close } },
    discarding: {
      facts: 'ne',
      next: { endReceiving: 'draining', discard: 'discarding', unroute: 'delivered', close },
    },
    draining: { facts: 'npe', next: { discard: 'draining', unroute: 'delivered', close } },
    delivering: { facts: 'r', next: { endReceiving: 'delivered', discard: 'delivered', close } },
    delivered: { facts: 'pe', next: { discard: 'delivered', close } },
    closed: { facts: '', next: {} },
  };
  t.same(Object.keys(XGRESS_TRANSITIONS), Object.keys(expected));
  const events: XgressEvent[] = ['start', 'endSending', 'endReceiving', 'discard', 'unroute', 'close'];
  const predicates = { s: isSending, r: isReceiving, n: isRouted, p: hasPeerEnded, e: isEnding };
  const factsOf = (state: XgressState) =>
    Object.entries(predicates).flatMap(([letter, holds]) => (holds(state) ? letter : []));
  for (const [state, { next, facts }] of Object.entries(expected) as [XgressState, ExpectedState][]) {
    t.equal(factsOf(state).join(''), facts, state);
    for (const event of events) {
      const after = next[event];
      if (!after) {
        t.throws(() => nextXgressState(state, event), InvariantError, `${event} in ${state}`);
        continue;
      }
      t.equal(nextXgressState(state, event), after, `${event} in ${state}`);
      const gained = factsOf(after).filter((fact) => !facts.includes(fact));
      if (state !== 'waiting') t.notMatch(gained.join(''), /[srn]/, `${event} in ${state} reopens no direction`);
      if (after !== 'closed' && facts.includes('p')) t.ok(hasPeerEnded(after), `${event} in ${state} keeps the end`);
    }
  }
});

t.test('a half close ends the data if the controller then removes the circuit', async (t) => {
  for (const paused of [true, false]) {
    const { initiator, client } = alone();
    const fin = new Map([[PayloadHeader.EdgeFlags, Buffer.from([1, 0, 0, 0])]]);
    client.accepts = !paused;
    initiator.acceptPayload(Payload.create('circuit', 0, PayloadFlag.Originator, Buffer.from('all')));
    initiator.acceptPayload(Payload.create('circuit', 1, PayloadFlag.Originator, Buffer.alloc(0), fin));
    initiator.unrouted();
    client.accepts = true;
    initiator.resume();
    t.equal(client.outcome, 'complete', paused ? 'the client read the rest later' : 'the client had read everything');
    t.equal(client.received.toString(), 'all');
  }
});

t.test('a client that disconnects on the end, before the circuit closes, leaves no end waiting', async (t) => {
  const { initiator, client, receive, acknowledge, circuit } = alone();
  circuit.drop = () => true;
  const capabilities = new Map([[PayloadHeader.Capabilities, Buffer.from([0, 0, 1, 0])]]);
  initiator.acceptPayload(Payload.create('circuit', 0, PayloadFlag.Originator, Buffer.alloc(0), capabilities));
  initiator.end({ fin: true });
  acknowledge([0, 1, 2]);
  initiator.rejectData();
  receive(1, Buffer.alloc(0), PayloadFlag.Eof);
  t.equal(client.outcome, '', 'the peer has not confirmed the rejection');
  receive(2, Buffer.alloc(0), PayloadFlag.CircuitEnd);
  t.equal(client.outcome, 'complete', 'and never will: it disconnected');
});

t.test('a half close reaches peers that do not know EOF without ending their direction', async (t) => {
  const { CircuitEnd, Eof, WriteFailed, Originator } = PayloadFlag;
  const fin = new Map([[PayloadHeader.EdgeFlags, Buffer.from([1, 0, 0, 0])]]);
  const capabilities = new Map([[PayloadHeader.Capabilities, Buffer.from([0, 0, 1, 0])]]);
  const { circuit, initiator, client, acknowledge } = alone();
  const sent: string[] = [];
  circuit.drop = (payload) => {
    const ends = { FIN: isFin(payload.headers()), end: payload.has(CircuitEnd), EOF: payload.has(Eof) };
    const marks = { ...ends, rejection: payload.has(WriteFailed) };
    sent.push(...Object.entries(marks).flatMap(([mark, has]) => (has ? mark : [])));
    return true;
  };
  let sequence = 0;
  const receive = (flags: number, text = '', headers?: ReadonlyMap<number, Buffer>) =>
    initiator.acceptPayload(Payload.create('circuit', sequence++, flags | Originator, Buffer.from(text), headers));
  initiator.end({ fin: true });
  t.same(sent, ['FIN']);
  receive(0, 'answer');
  receive(0, '', fin);
  receive(CircuitEnd);
  acknowledge([0, 1]);
  t.same(sent, ['FIN', 'end'], 'the circuit ends when both directions have ended');
  t.same([client.outcome, client.ended, client.received.toString()], ['complete', true, 'answer']);

  const later = alone();
  later.circuit.drop = circuit.drop;
  sent.length = 0;
  later.initiator.end({ fin: true });
  later.initiator.acceptPayload(Payload.create('circuit', 0, Originator, Buffer.alloc(0), capabilities));
  t.same(sent, ['FIN', 'EOF'], 'a peer that announces EOF afterwards gets one');
  later.initiator.abort();

  const leaving = alone();
  leaving.circuit.drop = circuit.drop;
  sent.length = 0;
  leaving.initiator.end({ fin: true });
  leaving.initiator.rejectData();
  t.same(sent, ['FIN', 'end', 'rejection'], 'a client that disconnects ends both directions');
  leaving.initiator.abort();
});

t.test('a client that leaves after both half closes of a removed circuit leaves nothing behind', async (t) => {
  const { circuit, initiator, client } = alone();
  circuit.drop = () => true;
  initiator.end({ fin: true });
  client.accepts = false;
  const fin = new Map([[PayloadHeader.EdgeFlags, Buffer.from([1, 0, 0, 0])]]);
  initiator.acceptPayload(Payload.create('circuit', 0, PayloadFlag.Originator, Buffer.alloc(0), fin));
  initiator.unrouted();
  t.equal(client.outcome, '', 'the client has not read everything');
  initiator.rejectData();
  t.equal(client.outcome, 'complete');
  t.equal(circuit.ticker.size, 0);
});

t.test('a client that leaves after both half closes does not wait for a peer that has closed', async (t) => {
  const { circuit, initiator, client, acknowledge } = alone();
  const ends: number[] = [];
  circuit.drop = (payload) => {
    if (payload.has(PayloadFlag.CircuitEnd)) ends.push(payload.sequence);
    return true;
  };
  client.accepts = false;
  const last = PayloadFlag.Originator | PayloadFlag.CircuitEnd;
  initiator.acceptPayload(Payload.create('circuit', 0, last, Buffer.from('rest')));
  initiator.end({ fin: true });
  acknowledge([0, 1]);
  t.equal(client.outcome, '', 'the client has not read everything');
  initiator.rejectData();
  t.equal(client.outcome, 'complete');
  t.equal(ends.length, 1, 'the last payload ends the circuit');
});

interface Ending {
  readonly name: string;
  /** Payloads of a terminator of another implementation, after its capabilities and its data. */
  readonly sends: readonly { flags?: number; headers?: ReadonlyMap<number, Buffer> }[];
  readonly capabilities?: boolean;
  readonly outcome: string;
  readonly ended: boolean;
}

t.test('ends of other implementations are complete or cut as intended', async (t) => {
  const fin = new Map([[PayloadHeader.EdgeFlags, Buffer.from([1, 0, 0, 0])]]);
  const { CircuitEnd, Eof, WriteFailed } = PayloadFlag;
  const endings: Ending[] = [
    {
      name: 'FIN, EOF, circuit end',
      sends: [{ headers: fin }, { flags: Eof }, { flags: CircuitEnd }],
      outcome: 'complete',
      ended: true,
    },
    { name: 'EOF of an SDK', sends: [{ flags: Eof }], outcome: '', ended: true },
    { name: 'an SDK closes', sends: [{ flags: WriteFailed }, { flags: Eof }], outcome: 'complete', ended: true },
    { name: 'an old peer closes', capabilities: false, sends: [{ flags: CircuitEnd }], outcome: '', ended: true },
    {
      name: 'FIN and end of an old peer',
      capabilities: false,
      sends: [{ headers: fin }, { flags: CircuitEnd }],
      outcome: '',
      ended: true,
    },
    { name: 'the client of a peer fails', sends: [{ flags: CircuitEnd }], outcome: 'cut', ended: false },
    { name: 'abort', sends: [{ flags: CircuitEnd | WriteFailed }], outcome: 'cut', ended: false },
  ];
  for (const { name, sends, capabilities = true, outcome, ended } of endings) {
    const circuit = new Circuit(CALM, 1, { circuitStartTimeout: 0 });
    const { initiator } = circuit.ends;
    const client = circuit.clients.initiator;
    initiator.start();
    let sequence = 0;
    const send = (flags: number, data = '', headers?: ReadonlyMap<number, Buffer>) =>
      initiator.acceptPayload(
        Payload.create('circuit', sequence++, flags | PayloadFlag.Originator, Buffer.from(data), headers),
      );
    if (capabilities) send(0, '', new Map([[PayloadHeader.Capabilities, Buffer.from([0, 0, 1, 0])]]));
    send(0, 'data');
    for (const { flags = 0, headers } of sends) send(flags, '', headers);
    await circuit.clock.advance(2_000);
    t.match(
      { outcome: client.outcome, ended: client.ended, text: client.received.toString() },
      { outcome, ended, text: 'data' },
      name,
    );
    initiator.abort();
  }
});
