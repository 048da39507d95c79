// A short run of the fuzzer: no crash, no hang, no growth. `npm run fuzz` runs longer, with other seeds.

import t from 'tap';
import { RELEASE } from '../support/house/thorough.ts';
import { type FuzzTarget, fuzz } from './runner.ts';
import { openTargets } from './targets.ts';

const SEED = 20_261_121;
const INPUTS = RELEASE ? 1_500 : 200;
/** One input for configurations is a whole document, which takes longer. */
const SECONDS = RELEASE ? 3 : 0.5;

t.test('broken inputs are rejected in time, and leave nothing behind', async (t) => {
  for (const target of await openTargets()) {
    const { findings, inputs, rejected } = await fuzz(target, { seed: SEED, inputs: INPUTS, seconds: SECONDS });
    t.same(
      findings.map(({ kind, what, input }) => `${kind}: ${what}: ${input.toString('base64')}`),
      [],
      `${target.name}: ${inputs} inputs, ${rejected} rejected`,
    );
    t.ok(rejected > 0 || target.name === 'header values', `${target.name} rejects inputs`);
  }
});

t.test('the fuzzer finds crashes, hangs and growth', async (t) => {
  const kept: Buffer[] = [];
  const faults: Record<string, (input: Buffer) => unknown> = {
    crash: (input) => input.readUInt8(5_000),
    // In processor time, as the fuzzer measures: on a busy machine 60 ms of the clock may be less work.
    hang: () => {
      const start = process.threadCpuUsage();
      while (process.threadCpuUsage(start).user < 60_000);
    },
    growth: () => kept.push(Buffer.alloc(100_000)),
  };
  for (const [kind, run] of Object.entries(faults)) {
    const target: FuzzTarget = { name: kind, seeds: [Buffer.from('seed')], run, rejects: () => false };
    const { findings } = await fuzz(target, { seed: SEED, inputs: 600 });
    t.ok(findings.length > 0 && findings.every((finding) => finding.kind === kind), kind);
    kept.length = 0;
  }
});
