// `npm run chaos [-- --seconds N] [--seed N] [--steps N] [--shrink SECONDS]`: random histories of a controller and real
// routers: writes, moves, faults, kills, hours of virtual time. Afterwards everything must agree. A failing history
// prints its seed and the shortest steps that still fail. Exit code 1 then.

import { parseArgs } from 'node:util';
import { ChaosNetwork } from './chaos-network.ts';
import { randomSteps, type Step, shrink } from './steps.ts';

/** Milliseconds for agreement while a history is shortened, so that failures do not take long. */
const SHORT_PATIENCE = 5_000;

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    seed: { type: 'string' },
    steps: { type: 'string', default: '40' },
    shrink: { type: 'string', default: '600' },
  },
});
const first = Number(values.seed ?? Math.trunc(performance.timeOrigin % 1e9));
const [seconds, length, patience] = [values.seconds, values.steps, values.shrink].map(Number) as [
  number,
  number,
  number,
];
if (!Number.isSafeInteger(first) || !(seconds > 0) || !(length >= 1 && length <= 10_000) || !(patience >= 0)) {
  process.stderr.write('chaos: --seconds, --seed, --steps and --shrink are numbers\n');
  process.exitCode = 2;
} else await main();

async function main(): Promise<void> {
  const end = performance.now() + seconds * 1_000;
  let histories = 0;
  for (let seed = first; performance.now() < end || histories === 0; seed++) {
    const steps = randomSteps(seed, length);
    const wrong = await failure(steps);
    histories += 1;
    if (wrong.length === 0) continue;
    process.stdout.write(`seed ${seed} fails:\n${lines(wrong)}`);
    const late = performance.now() + patience * 1_000;
    const fails = async (fewer: readonly Step[]) => (await failure(fewer, SHORT_PATIENCE)).length > 0;
    const shortest = await shrink(steps, fails, () => performance.now() > late);
    const confirmed = (await failure(shortest)).length > 0;
    const what = confirmed ? 'the shortest steps that fail' : 'steps that fail within a short time only';
    process.stdout.write(`${what}:\n${lines(shortest.map((step) => JSON.stringify(step)))}`);
    process.stdout.write(`again: npm run chaos -- --seed ${seed} --steps ${length} --seconds 1\n`);
    process.exitCode = 1;
    return;
  }
  process.stdout.write(`seeds ${first} to ${first + histories - 1}: ${histories} histories of ${length} steps agree\n`);
}

/** Errors of a history are failures, too. */
async function failure(steps: readonly Step[], patience?: number): Promise<string[]> {
  try {
    return await ChaosNetwork.run(steps, patience);
  } catch (error) {
    return [error instanceof Error ? (error.stack ?? error.message) : String(error)];
  }
}

function lines(texts: readonly string[]): string {
  return texts.map((text) => `  ${text}\n`).join('');
}
