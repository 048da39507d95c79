// The controller on modelled paths: it fills them, keeps their queues short, shares them, and recovers from changes.

import fc from 'fast-check';
import t from 'tap';
import { seededRandom } from '#lib/random.ts';
import { RELEASE } from '../../../test/support/house/thorough.ts';
import { type ModelSender, PathModel, type PathShape, quantile } from '../../../test/support/rooms/path-model.ts';
import { MIN_WINDOW, PathController } from './path-controller.ts';

const RUNS = RELEASE ? 4_000 : 300;
/**
 * The properties are statistical: on one of some ten thousand paths, a share or a queue is just beyond its bound. Runs
 * for a release therefore judge other paths each time, the others the same ones.
 */
const SEED = RELEASE ? undefined : 20_261_126;

function runs<T = [PathShape]>(numRuns: number): fc.Parameters<T> {
  return { numRuns, ...(SEED !== undefined && { seed: SEED }) };
}

/**
 * Paths from a home's uplink to a data centre; their queues hold at least 20 ms and half a round trip, and the paths
 * themselves at most what one circuit may have in flight.
 */
const paths = fc
  .record({
    rate: fc.integer({ min: 10, max: 1_000 }),
    delay: fc.integer({ min: 4, max: 300 }),
    queue: fc.integer({ min: 20, max: 300 }),
  })
  .filter(({ rate, delay }) => rate * 125 * delay < 4 * 1024 * 1024)
  .map((shape): PathShape => ({ ...shape, queue: Math.max(shape.queue, shape.delay / 2) }));

/** Milliseconds in which a transfer finds the rate of a path: some seconds, and so many round trips. */
function warmUp({ delay }: PathShape): number {
  return 2_000 + 25 * delay;
}

function allowed({ senders, shape }: PathModel): number {
  return senders[0]?.controller?.allowedWait ?? shape.delay;
}

t.test('one transfer fills any path, and hardly uses its queue', async () => {
  fc.assert(
    fc.property(paths, (shape) => {
      const model = new PathModel(shape);
      model.add();
      model.run(warmUp(shape));
      const { used, waits } = model.run(1_500 + 10 * shape.delay);
      // No control reaches below the smallest window and a frame of the model.
      const min = (2 * MIN_WINDOW) / model.capacity + shape.delay / 10;
      return used > 0.93 && quantile(waits, 0.5) < 1.7 * allowed(model) + min;
    }),
    runs(RUNS),
  );
});

/** Wi-Fi, mobile networks and satellites: a delay that jitters, or packets that leave in bursts. */
const unsteadyPaths = fc
  .record({
    rate: fc.integer({ min: 20, max: 200 }),
    delay: fc.integer({ min: 10, max: 100 }),
    queue: fc.integer({ min: 60, max: 200 }),
    unsteady: fc.oneof(
      fc.record({ jitter: fc.record({ max: fc.integer({ min: 4, max: 30 }), every: fc.constant(8) }) }),
      fc.record({ bursts: fc.integer({ min: 4, max: 10 }) }),
    ),
    seed: fc.integer({ min: 1, max: 1e9 }),
  })
  .map(({ unsteady, seed, ...shape }): [PathShape, number] => [{ ...shape, ...unsteady }, seed]);

t.test('where the delay jitters, it gets most of what a transfer without it gets, with a shorter queue', async () => {
  fc.assert(
    fc.property(unsteadyPaths, ([shape, seed]) => {
      const [plain, paced] = [false, true].map((isPaced) => {
        const random = seededRandom(seed);
        const model = new PathModel(shape, () => random.next());
        model.add({ isPaced });
        model.run(2 * warmUp(shape));
        return model.run(8_000);
      }) as [ReturnType<PathModel['run']>, ReturnType<PathModel['run']>];
      return paced.used > 0.8 * plain.used && quantile(paced.waits, 0.5) < quantile(plain.waits, 0.5);
    }),
    runs<[[PathShape, number]]>(RUNS / 10),
  );
});

t.test('it sends at the rate of a policer, and little more', async (t) => {
  for (const isTolerant of [false, true])
    for (const rate of [20, 50, 100]) {
      const [plain, paced] = [false, true].map((isPaced) => {
        const model = new PathModel({ rate, delay: 30, queue: 0, policer: 128 * 1024 });
        model.add({ isPaced, isTolerant: isPaced && isTolerant });
        model.run(5_000);
        return model.run(10_000);
      }) as [ReturnType<PathModel['run']>, ReturnType<PathModel['run']>];
      const name = `${rate} Mbit/s${isTolerant ? ', a congestion control that tolerates losses' : ''}`;
      t.ok(paced.used > Math.min(0.95, 1.5 * plain.used), `${name}: ${paced.used}, without it ${plain.used}`);
      t.ok(paced.carried < 1.1, `${name}: ${paced.carried} bytes for each byte`);
    }
});

t.test('it says why it sends as much as it does', async (t) => {
  const seenIn = (model: PathModel, milliseconds: number) => {
    const { controller } = model.senders.at(-1) as ModelSender;
    const seen = new Set<string>();
    for (let time = 0; time < milliseconds; time += 10) {
      model.run(10);
      seen.add(controller?.reason ?? '');
    }
    return [...seen];
  };
  const path = { rate: 50, delay: 30, queue: 50 };
  const model = new PathModel(path);
  const sender = model.add();
  const reasons = seenIn(model, 10_000);
  t.match(reasons, [/the rate of the path is not known/, /may carry more/, /longer than allowed/, /to measure/]);
  sender.isBusy = false;
  t.match(seenIn(model, 2_000).at(-1), /less to send/);
  const policer = new PathModel({ ...path, policer: 128 * 1024 });
  policer.add({ isTolerant: true });
  t.match(seenIn(policer, 10_000).join(), /more is lost/);
  const shared = new PathModel(path);
  const other = shared.add();
  shared.run(5_000);
  shared.add({ isPaced: false });
  shared.senders.reverse();
  t.match(seenIn(shared, 20_000).join(), /others fill/);
  t.ok((other.controller?.queueWait ?? 0) > 5, 'the queue of others is one of this direction');
  t.ok((sender.controller?.queueWait ?? 99) < 5, 'and a path without a transfer has none');
});

t.test('losses that it does not cause do not slow it down', async (t) => {
  for (const loss of [0.01, 0.05, 0.1]) {
    const random = seededRandom(1);
    const model = new PathModel({ rate: 50, delay: 30, queue: 50, loss }, () => random.next());
    model.add({ isTolerant: true });
    model.run(5_000);
    const { used } = model.run(10_000);
    t.ok(used > 0.85 * (1 - loss), `${loss}: ${used}`);
  }
});

t.test('acknowledgements that come in a burst do not make it send a burst', async (t) => {
  const controller = new PathController();
  let [now, delivered] = [0, 0];
  /** Sends what it may in a millisecond. Returns the bytes. */
  const send = () => {
    now++;
    let bytes = 0;
    while (controller.isInPace(now) && bytes < controller.window) {
      controller.sent(1_000, now);
      bytes += 1_000;
    }
    controller.waiting(true);
    return bytes;
  };
  // 40 ms of round trip; the path carries 1,000 bytes in each millisecond, and tells it every 40 ms.
  for (let round = 0; round < 40; round++) {
    for (let tick = 0; tick < 40; tick++) send();
    delivered += 40_000;
    controller.observe({ now, rtt: 40, delivered, inFlight: 40_000, sentAgain: 0 });
  }
  t.equal(controller.phase, 'steady');
  const sent = Array.from({ length: 40 }, send);
  t.ok(Math.max(...sent) <= 3_000, `${Math.max(...sent)} bytes in a millisecond`);
  const total = sent.reduce((sum, each) => sum + each, 0);
  t.ok(total > 40_000 && total < 50_000, `${total} bytes while the path carries 40,000`);
});

t.test('it starts about as fast as a transfer without it', async () => {
  fc.assert(
    fc.property(paths, (shape) => {
      const [plain, paced] = [false, true].map((isPaced) => {
        const model = new PathModel(shape);
        model.add({ isPaced });
        return model.run(500 + 16 * shape.delay).used;
      }) as [number, number];
      return paced > 0.7 * plain;
    }),
    runs(RUNS),
  );
});

t.test('it recovers from changes of the path within two seconds and some round trips', async (t) => {
  const usual = { rate: 200, delay: 40, queue: 50 };
  const changes: [string, PathShape, number][] = [
    ['a tenth of the rate', { ...usual, rate: 20 }, 0.93],
    ['the full rate again', usual, 0.93],
    ['a longer way', { ...usual, delay: 80, rate: 60 }, 0.9],
    ['the short way again', usual, 0.93],
  ];
  const model = new PathModel(usual);
  model.add();
  model.run(5_000);
  for (const [name, shape, min] of changes) {
    model.shape = shape;
    model.run(2_000);
    const { used, waits } = model.run(3_000);
    t.ok(used > min, `${name}: ${used}`);
    t.ok(quantile(waits, 0.5) < 15, `${name}: ${quantile(waits, 0.5)} ms`);
  }
});

t.test('it recovers from a pause of the path', async (t) => {
  const model = new PathModel({ rate: 200, delay: 40, queue: 50 });
  model.add();
  model.run(5_000);
  model.isStopped = true;
  model.run(3_000);
  model.isStopped = false;
  model.run(2_000);
  const { used, waits } = model.run(3_000);
  t.ok(used > 0.93, `${used}`);
  t.ok(quantile(waits, 0.5) < 10, `${quantile(waits, 0.5)} ms`);
});

t.test('two of them fill a path together, and neither starves', async () => {
  fc.assert(
    fc.property(paths, (shape) => {
      const model = new PathModel(shape);
      model.add();
      model.run(warmUp(shape));
      model.add();
      model.run(2 * warmUp(shape));
      const { used, shares } = model.run(10_000 + 50 * shape.delay);
      return used > 0.9 && Math.min(...shares) > 0.03;
    }),
    runs(RUNS / 4),
  );
});

t.test('transfers in both directions fill the path, although each waits in the queue of the other', async () => {
  fc.assert(
    fc.property(paths, (shape) => {
      const model = new PathModel(shape);
      const opposite = model.addOpposite();
      model.add();
      model.run(warmUp(shape));
      const other = opposite.add();
      model.run(2 * warmUp(shape));
      const before = other.delivered;
      const time = 10_000 + 50 * shape.delay;
      const { used } = model.run(time);
      const otherUsed = (other.delivered - before) / (time * model.capacity);
      return Math.min(used, otherUsed) > 0.3 && used + otherUsed > 1.2;
    }),
    runs(RUNS / 4),
  );
});

t.test('two of them keep the queue of a usual path short', async (t) => {
  const model = new PathModel({ rate: 200, delay: 40, queue: 50 });
  model.add();
  model.run(5_000);
  model.add();
  model.run(5_000);
  const { waits } = model.run(20_000);
  t.ok(quantile(waits, 0.5) < 10, `${quantile(waits, 0.5)} ms`);
});

t.test('it keeps a part of a path whose queue others fill, and leaves the queue when they end', async (t) => {
  const model = new PathModel({ rate: 200, delay: 40, queue: 50 });
  const other = model.add({ isPaced: false });
  model.run(5_000);
  model.add();
  model.run(5_000);
  const { shares } = model.run(20_000);
  t.ok((shares[1] ?? 0) > 0.15, `${shares}`);
  other.isBusy = false;
  model.run(12_000);
  const { used, waits } = model.run(5_000);
  t.ok(used > 0.93, `${used}`);
  t.ok(quantile(waits, 0.5) < 12, `${quantile(waits, 0.5)} ms`);
});

t.test('a transfer that pauses finds the path as it left it', async (t) => {
  const model = new PathModel({ rate: 100, delay: 50, queue: 60 });
  const sender = model.add();
  model.run(3_500);
  const window = sender.controller?.window ?? 0;
  sender.isBusy = false;
  model.run(20_000);
  sender.isBusy = true;
  model.run(500);
  t.ok(Math.abs((sender.controller?.window ?? 0) / window - 1) < 0.4, `${sender.controller?.window} and ${window}`);
  t.ok(model.run(1_000).used > 0.9);
});

t.test('a peer that lies about arrivals makes no path shorter than it was measured', async () => {
  const step = fc.record({
    rtt: fc.integer({ min: 5, max: 500 }),
    /** Undefined for a peer that sends no times. */
    oneWay: fc.option(fc.oneof(fc.integer({ min: -1e12, max: 1e12 }), fc.constantFrom(-1e300, 1e300)), {
      nil: undefined,
    }),
    bytes: fc.integer({ min: 0, max: 1_000_000 }),
  });
  fc.assert(
    fc.property(fc.array(step, { minLength: 50, maxLength: 400 }), (steps) => {
      const controller = new PathController();
      let [now, delivered, least] = [0, 0, Number.POSITIVE_INFINITY];
      for (const { rtt, oneWay, bytes } of steps) {
        controller.waiting(true);
        if (oneWay !== undefined) controller.noteOneWay(oneWay);
        [now, delivered, least] = [now + rtt, delivered + bytes, Math.min(least, rtt)];
        controller.observe({ now, rtt, delivered, inFlight: bytes, sentAgain: 0 });
        const { minRtt: base = least, window } = controller;
        if (!(base >= least && window >= MIN_WINDOW && Number.isFinite(window))) return false;
      }
      return true;
    }),
  );
});

t.test('a queue is short up to the allowed wait above the round trip that the window leads to', async (t) => {
  for (const delay of [5, 50, 200]) {
    const model = new PathModel({ rate: 100, delay, queue: 100 });
    const { controller } = model.add();
    model.run(warmUp(model.shape));
    t.ok(controller);
    const { minRtt = 0, allowedWait = 0 } = controller ?? {};
    t.ok(minRtt >= delay && allowedWait >= 0.7, `${minRtt} ms, ${allowedWait} ms`);
    t.equal(controller?.isQueueShort(minRtt), true, 'no queue');
    t.equal(controller?.isQueueShort(minRtt + 1.9 * allowedWait), true);
    t.equal(controller?.isQueueShort(minRtt + 2.1 * allowedWait), false);
  }
});
