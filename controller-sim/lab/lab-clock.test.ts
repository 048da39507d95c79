// The time of several controllers that move it at once, and of one that moves it again before an advance is over.

import t from 'tap';
import { seededRandom } from '#lib/random.ts';
import { AdvancingClock } from '#lib/time/advancing-clock.ts';
import { VirtualClock } from '#lib/time/clock.ts';
import { LabClock, type SharedTime } from './lab-clock.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** Clocks whose messages to each other wait until `deliver`. */
function clocks(count: number) {
  const real = new VirtualClock();
  const waiting: (() => Promise<void>)[] = [];
  const own = Array.from({ length: count }, () => new AdvancingClock(real));
  const labs: LabClock[] = own.map(
    (clock, index) =>
      new LabClock(clock, {
        move: async (time: SharedTime) => {
          for (const [other, lab] of labs.entries())
            if (other !== index) waiting.push(() => lab.follow(structuredClone(time)));
        },
        times: () => labs.flatMap((lab, other) => (other === index ? [] : [Promise.resolve(lab.sharedTime())])),
      }),
  );
  /** `choose` returns the index of the message that arrives next. */
  const deliver = async (choose: (length: number) => number = () => 0) => {
    while (waiting.length > 0) await waiting.splice(choose(waiting.length), 1)[0]?.();
  };
  const times = () => labs.map((lab) => lab.now().getTime() - real.now());
  return { real, labs, deliver, times, drop: () => waiting.splice(0) };
}

t.test('moves of several controllers at once, whose messages arrive in any order, end with one time', async (t) => {
  for (let seed = 1; seed <= 20; seed++) {
    const random = seededRandom(seed);
    const { labs, deliver, times } = clocks(3);
    const pick = (length: number) => Math.floor(random.next() * length);
    const moves = Array.from({ length: 12 }, () => {
      const lab = labs[pick(3)] as LabClock;
      const what = pick(4);
      if (what === 0) return lab.set(new Date(lab.now().getTime() - pick(9) * HOUR));
      if (what === 1) return lab.run(pick(2) * 60);
      if (what === 2) return lab.returnTo({ rate: 1, advanced: pick(5) * HOUR, now: 0 });
      return lab.advance(pick(5) * DAY);
    });
    await Promise.all([...moves, deliver(pick)]);
    await deliver(pick);
    for (const values of [times(), labs.map(({ rate }) => rate), labs.map(({ advanced }) => advanced)])
      t.equal(new Set(values).size, 1, `seed ${seed}: ${values.join()}`);
    await Promise.all(labs.map((lab) => lab.returnTo({ rate: 1, advanced: HOUR, now: 0 })));
    await deliver(pick);
    t.same(times(), [HOUR, HOUR, HOUR], `seed ${seed}`);
  }
});

t.test('a change of the rate, a time and a return before an advance is over', async (t) => {
  const { labs, times } = clocks(1);
  const [lab] = labs as [LabClock];
  lab.freeze();
  const advancing = lab.advance('2d');
  lab.run();
  await advancing;
  t.same([lab.advanced, times()], [2 * DAY, [2 * DAY]]);
  const again = lab.advance('2d');
  await lab.returnTo({ rate: 1, advanced: HOUR, now: 0 });
  await again;
  t.same([lab.advanced, times()], [HOUR, [HOUR]]);
  const third = lab.advance('2d');
  await lab.set(lab.now());
  await third;
  t.same([lab.advanced, times()], [HOUR, [HOUR]]);
});

t.test('one that missed moves takes the time later, and not from one that knows less', async (t) => {
  const { labs, drop, times } = clocks(3);
  const [one, two, three] = labs as [LabClock, LabClock, LabClock];
  await one.advance('1h');
  await one.advance('1h');
  drop();
  await two.follow(three.sharedTime());
  await two.follow(one.sharedTime());
  await two.follow(three.sharedTime());
  t.same(times(), [2 * HOUR, 2 * HOUR, 0]);
  await three.followOthers();
  t.same(times(), [2 * HOUR, 2 * HOUR, 2 * HOUR]);
  const { move: _, ...without } = one.sharedTime();
  t.throws(() => two.follow(without as SharedTime), { code: 'INVALID', message: /wrong time/ });
});
