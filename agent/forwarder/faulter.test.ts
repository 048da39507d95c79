// Which controller gets which report of faults, when, and in how many messages.

import { fromBinary } from '@bufbuild/protobuf';
import t from 'tap';
import { silentLog } from '#lib/log/log.ts';
import { VirtualClock } from '#lib/time/clock.ts';
import { FaultSchema, FaultSubject } from '#wire/gen/control_pb.js';
import type { Message } from '#wire/message.ts';
import { Faulter } from './faulter.ts';

const { FORWARD_FAULT, EGRESS_FAULT, UNKNOWN_OWNER_FORWARD_FAULT } = FaultSubject;

function reporting(interval: number) {
  const clock = new VirtualClock();
  const received: { to: string; subject: FaultSubject; circuits: string[] }[] = [];
  const counts = { faults: 0, room: Number.POSITIVE_INFINITY };
  const receivers = ['one', 'two'].map((id) => ({
    id,
    send({ body }: Message) {
      if (counts.room-- <= 0) throw new Error('the send queue is full');
      const { subject, id: circuits } = fromBinary(FaultSchema, body);
      received.push({ to: id, subject, circuits: circuits.split(' ') });
    },
  }));
  const controllers = { all: receivers, byId: (id: string) => receivers.find((each) => each.id === id) };
  const faults = { mark: () => counts.faults++ };
  const faulter = new Faulter({ clock, log: silentLog, controllers, faults }, interval);
  return { clock, counts, faulter, received };
}

t.test('a circuit is reported once an interval to its controller, or to all if that is unknown', async (t) => {
  const { clock, counts, faulter, received } = reporting(15_000);
  for (const [circuit, owner] of [
    ['a', 'one'],
    ['b', 'two'],
    ['a', 'one'],
    ['c', ''],
    ['d', 'gone'],
  ] as const)
    faulter.report(circuit, owner);
  await clock.advance(14_999);
  t.same(received, []);
  await clock.advance(1);
  t.same(received.splice(0), [
    { to: 'one', subject: FORWARD_FAULT, circuits: ['a'] },
    { to: 'two', subject: FORWARD_FAULT, circuits: ['b'] },
    { to: 'one', subject: UNKNOWN_OWNER_FORWARD_FAULT, circuits: ['c'] },
    { to: 'two', subject: UNKNOWN_OWNER_FORWARD_FAULT, circuits: ['c'] },
    { to: 'one', subject: UNKNOWN_OWNER_FORWARD_FAULT, circuits: ['d'] },
    { to: 'two', subject: UNKNOWN_OWNER_FORWARD_FAULT, circuits: ['d'] },
  ]);
  t.equal(counts.faults, 5);
  await clock.advance(15_000);
  t.same(received, [], 'nothing new');
  faulter.close();
  t.same(clock.timers(), []);
});

t.test('a message has at most 1000 circuits', async (t) => {
  const { faulter, received } = reporting(1);
  for (let index = 0; index < 2_001; index++) faulter.report(`c${index}`, 'one');
  faulter.flush();
  t.same(
    received.map(({ circuits }) => circuits.length),
    [1_000, 1_000, 1],
  );
  t.equal(new Set(received.flatMap(({ circuits }) => circuits)).size, 2_001);
  faulter.close();
});

t.test('with the interval 0, faults are only counted', async (t) => {
  const { clock, counts, faulter, received } = reporting(0);
  faulter.report('a', 'one');
  t.same(clock.timers(), []);
  faulter.flush();
  t.same([received, counts.faults], [[], 1]);
  faulter.close();
});

t.test('the end of a circuit waits for room in the queue of its controller', async (t) => {
  const { counts, faulter, received } = reporting(1);
  counts.room = 1;
  for (const circuit of ['a', 'b', 'c']) faulter.reportEnd(circuit, EGRESS_FAULT, 'one');
  const sent = () => received.splice(0).map(({ to, subject, circuits }) => `${to} ${subject} ${circuits}`);
  t.same(sent(), [`one ${EGRESS_FAULT} a`]);
  counts.room = 1;
  faulter.flush();
  t.same(sent(), [`one ${EGRESS_FAULT} b`]);
  counts.room = 9;
  faulter.flush();
  faulter.flush();
  t.same(sent(), [`one ${EGRESS_FAULT} c`]);
  faulter.close();
});
