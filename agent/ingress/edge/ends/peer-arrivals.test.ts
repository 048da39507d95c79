// When everything of a peer has arrived, in any order.

import t from 'tap';
import { PayloadFlag } from '#wire/gen/numbers.ts';
import { Payload } from '#wire/xgress-frames.ts';
import { PeerArrivals } from './peer-arrivals.ts';

const { CircuitEnd, Eof } = PayloadFlag;

/** The arrivals after payloads with these sequences and flags. */
function after(...payloads: readonly [sequence: number, flags?: number][]): PeerArrivals {
  const arrivals = new PeerArrivals();
  for (const [sequence, flags = 0] of payloads)
    arrivals.add(Payload.create('circuit', sequence, flags, Buffer.alloc(0)));
  return arrivals;
}

t.test('arrivals are complete with the end of the data and all payloads before it', (t) => {
  t.notOk(after([0], [1]).areComplete, 'no end');
  t.ok(after([0], [1], [2, Eof]).areComplete, 'a half close');
  t.notOk(after([0], [2, Eof], [3, CircuitEnd]).areComplete, 'a gap before the end of the data');
  t.notOk(after([0], [2, CircuitEnd]).areComplete, 'a gap');
  t.ok(after([0], [2, CircuitEnd], [1]).areComplete, 'the gap is closed');
  t.ok(after([2, CircuitEnd], [1], [1], [0]).areComplete, 'in reverse, with a repetition');
  t.ok(after([0, CircuitEnd]).areComplete);
  t.end();
});

t.test('a peer is gone after the end of its data and a circuit end, which alone may be a half close', (t) => {
  t.notOk(after([0], [1, CircuitEnd]).isPeerGone);
  t.notOk(after([0], [1, CircuitEnd | Eof]).isPeerGone);
  t.ok(after([0], [1, Eof], [2, CircuitEnd]).isPeerGone);
  t.ok(after([2, CircuitEnd], [0], [1, Eof]).isPeerGone);
  t.end();
});

t.test('a peer cannot fill the memory with gaps', (t) => {
  const far = Array.from({ length: 10_000 }, (_, at): [number] => [at + 1]);
  t.notOk(after(...far, [10_001, Eof], [10_002, CircuitEnd], [0]).areComplete);
  t.end();
});
