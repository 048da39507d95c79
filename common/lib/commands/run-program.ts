// Runs a command line from the process's arguments. Exit codes: 0 done, 1 the work failed, 2 wrong use.

import { type Command, CommanderError } from 'commander';
import { tolerateClosedOutput } from './closed-output.ts';

const WRONG_USE = 2;

/** Resolves when the command has ended. Rejects with what it throws. */
export async function runProgram(program: Command): Promise<void> {
  useExitOverride(program);
  tolerateClosedOutput();
  try {
    await program.parseAsync();
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    process.exitCode = error.exitCode === 0 ? 0 : WRONG_USE; // commander's own is 1
  }
}

function useExitOverride(command: Command): void {
  command.exitOverride();
  for (const each of command.commands) useExitOverride(each);
}
