// `npm run fuzz [-- --seconds N] [--target NAME] [--seed N] [--input BASE64]`: broken inputs for all code that parses
// foreign bytes. The seconds are for all targets together, without those of long inputs, whose cost may only grow with
// their length. Exit code 1 if there are findings.

import { parseArgs } from 'node:util';
import { amplify, type FuzzReport, fuzz } from './runner.ts';
import { openTargets } from './targets.ts';

/** Inputs that repeat one piece, for each target. */
const REPETITIONS = 100;

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    target: { type: 'string' },
    seed: { type: 'string' },
    input: { type: 'string' },
  },
});
const seed = Number(values.seed ?? Math.trunc(performance.timeOrigin % 1e9));
const seconds = Number(values.seconds);
const all = await openTargets();
const names = all.map(({ name }) => name);
const targets = all.filter(({ name }) => values.target === undefined || name === values.target);
if (!Number.isFinite(seed) || !(seconds > 0) || targets.length === 0) {
  process.stderr.write(`fuzz: --seconds and --seed are numbers, --target is one of ${names.join(', ')}\n`);
  process.exitCode = 2;
} else if (values.input !== undefined) {
  for (const target of targets) await target.run(Buffer.from(values.input, 'base64'));
} else {
  process.stdout.write(`seed ${seed}\n`);
  let total = 0;
  for (const target of targets) {
    const repeated = await amplify(target, { seed, inputs: REPETITIONS });
    const report = await fuzz(target, { seed, seconds: seconds / targets.length });
    const findings = [...report.findings, ...repeated.findings];
    total += report.inputs + repeated.inputs;
    print({ ...report, findings });
    if (findings.length > 0) process.exitCode = 1;
  }
  process.stdout.write(`${total} inputs, ${process.exitCode === 1 ? 'with findings' : 'no finding'}\n`);
}

function print({ target, inputs, rejected, slowest, growth, findings }: FuzzReport): void {
  const figures = `${inputs} inputs, ${rejected} rejected, slowest ${slowest.toFixed(1)} ms, growth ${Math.round(growth / 1024)} KiB`;
  process.stdout.write(`${target.padEnd(20)} ${figures}\n`);
  for (const { kind, what, input } of findings)
    process.stdout.write(`  ${kind}: ${what}\n  --target ${target} --input ${input.toString('base64')}\n`);
}
