// Runs a command line with the arguments of the process. Exit codes: 0 done, 1 the work failed, 2 wrong usage.

import { type Command, CommanderError } from 'commander';
import { tolerateClosedOutput } from './closed-output.ts';
import { setHelp } from './help.ts';

const WRONG_USE = 2;

/** Resolves when the command has ended. Rejects with its error. */
export async function runProgram(program: Command): Promise<void> {
  useExitOverride(program);
  setHelp(program);
  tolerateClosedOutput();
  try {
    await program.parseAsync();
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    process.exitCode = error.exitCode === 0 ? 0 : WRONG_USE; // commander would use 1
  }
}

function useExitOverride(command: Command): void {
  command.exitOverride();
  for (const each of command.commands) useExitOverride(each);
}
