// Which losses the watch of a path takes for its sender's own.

import t from 'tap';
import { seededRandom } from '#lib/random.ts';
import { OwnLosses } from './own-losses.ts';

const ROUND = 200_000;
const DRAIN = 120_000;

t.test('losses that no drain has are own ones', async (t) => {
  const losses = new OwnLosses();
  t.equal(losses.areCertain, false, 'nothing is known');
  let drains = 0;
  while (!losses.areCertain && drains < 100) {
    for (let round = 0; round < 60; round++) losses.addRound(ROUND, round % 10 === 0 ? 0 : 4_000);
    losses.addDrain(DRAIN, 0);
    drains++;
  }
  t.ok(drains > 2 && drains < 10, `${drains} drains`);
  for (let drain = 0; drain < 10; drain++) losses.addDrain(DRAIN, 4_000);
  t.equal(losses.areCertain, false, 'until drains lose packets');
});

t.test('losses at any rate are not', async (t) => {
  for (const perPacket of [0, 0.0002, 0.002, 0.02, 0.2]) {
    const random = seededRandom(1);
    const lost = (bytes: number) =>
      Array.from({ length: Math.ceil(bytes / 1_448) }, () => (random.next() < perPacket ? 1_448 : 0)).reduce(
        (sum: number, each) => sum + each,
        0,
      );
    const losses = new OwnLosses();
    for (let drain = 0; drain < 50; drain++) {
      for (let round = 0; round < 60; round++) losses.addRound(ROUND, lost(ROUND));
      losses.addDrain(DRAIN, lost(DRAIN));
      if (losses.areCertain) t.fail(`${perPacket}: after ${drain + 1} drains`);
    }
  }
});

t.test('a round with more losses than a drain was too fast, unless these stay although less is sent', async (t) => {
  const losses = new OwnLosses();
  t.equal(losses.addRound(ROUND, 0), false);
  t.equal(losses.addRound(ROUND, 0.01 * ROUND), false, 'few');
  for (let round = 0; round < 4; round++) t.equal(losses.addRound(ROUND, 0.1 * ROUND), true);
  t.equal(losses.addRound(ROUND, 0.1 * ROUND), false, 'the path loses them');
  t.equal(losses.addRound(ROUND, 0.1 * ROUND), false);
  for (let drain = 0; drain < 8; drain++) losses.addDrain(DRAIN, 0);
  t.equal(losses.addRound(ROUND, 0.1 * ROUND), true, 'drains no longer have them');
});
