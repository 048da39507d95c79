// Runs commands in the process of a test, with the outcome that they have in one of their own. A command takes some
// milliseconds then, instead of the start of a program. For commands that end by themselves, and neither read standard
// input nor handle signals.

import { AsyncLocalStorage } from 'node:async_hooks';
import type { Command } from 'commander';
import { runProgram } from '#lib/commands/run-program.ts';
import type { Outcome } from './run.ts';

type Printed = Record<'stdout' | 'stderr', string>;

/** Output of the command in progress. tap and a simulator in this process print outside of it. */
const printing = new AsyncLocalStorage<Printed>();
/** Commands share the exit code, the environment and the arguments of the process: each waits for the last one. */
let last: Promise<unknown> = Promise.resolve();
let isDiverted = false;

/** Runs a new instance of a program with these arguments, after the commands that began before. */
export function runCommand(
  program: () => Command,
  args: readonly string[],
  { env = {} }: { readonly env?: NodeJS.ProcessEnv } = {},
): Promise<Outcome> {
  divert();
  const outcome = last.then(() => run(program, args, env));
  last = outcome.catch(() => undefined);
  return outcome;
}

async function run(program: () => Command, args: readonly string[], env: NodeJS.ProcessEnv): Promise<Outcome> {
  const printed: Printed = { stdout: '', stderr: '' };
  const before = { argv: process.argv, env: process.env, exitCode: process.exitCode };
  process.argv = [...before.argv.slice(0, 2), ...args];
  process.env = { ...before.env, ...env };
  process.exitCode = undefined;
  const streams = [process.stdout, process.stderr].map((stream) => ({ stream, known: stream.listeners('error') }));
  try {
    await printing.run(printed, () => runProgram(program()));
    return { code: Number(process.exitCode ?? 0), ...printed };
  } finally {
    process.argv = before.argv;
    process.env = before.env;
    process.exitCode = before.exitCode;
    for (const { stream, known } of streams)
      for (const added of stream.listeners('error').filter((each) => !known.includes(each)))
        stream.off('error', added as () => void);
  }
}

function divert(): void {
  if (isDiverted) return;
  isDiverted = true;
  for (const name of ['stdout', 'stderr'] as const) {
    const stream = process[name];
    const write = stream.write.bind(stream) as (...args: unknown[]) => boolean;
    stream.write = (...args: unknown[]) => {
      const printed = printing.getStore();
      if (printed === undefined) return write(...args);
      printed[name] += String(args[0]);
      const done = args.at(-1);
      if (typeof done === 'function') process.nextTick(done as () => void);
      return true;
    };
  }
}
