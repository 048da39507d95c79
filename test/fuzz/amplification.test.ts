// Bounds the cost of long inputs that repeat a piece, or grow in another way, for each KiB. `npm run fuzz` tries more.

import t from 'tap';
import { RELEASE } from '../support/house/thorough.ts';
import { amplify, type FuzzTarget } from './runner.ts';
import { openTargets } from './targets.ts';

const SEED = 20_261_121;
const REPETITIONS = RELEASE ? 100 : 12;
/** These take nearly all of the time. Operators and administrators write them, not strangers. */
const DOCUMENTS: readonly string[] = ['configurations', 'seeds'];
const isTried = ({ name }: FuzzTarget) => RELEASE || !DOCUMENTS.includes(name);

// The processor time of each input is bounded, not the time of all on a busy machine.
t.setTimeout(600_000);

t.test('the cost of an input grows with its length, whatever it repeats', async (t) => {
  for (const target of (await openTargets()).filter(isTried)) {
    const { findings, inputs } = await amplify(target, {
      seed: SEED,
      inputs: target.slowest === undefined ? REPETITIONS : REPETITIONS / 3,
    });
    t.same(
      findings.map(({ what, input }) => `${what}: ${input.subarray(0, 200).toString('latin1')}`),
      [],
      `${target.name}: ${inputs} inputs`,
    );
  }
});

t.test('the fuzzer finds costs that grow faster', async (t) => {
  const square = (input: Buffer) => {
    const start = process.threadCpuUsage();
    while (process.threadCpuUsage(start).user < (input.length / 2_048) ** 2 * 80);
  };
  const target: FuzzTarget = { name: 'square', seeds: [Buffer.from('seed')], run: square, rejects: () => false };
  const { findings } = await amplify(target, { seed: SEED, inputs: 1 });
  t.same(
    findings.map(({ kind }) => kind),
    ['amplification'],
  );
});
