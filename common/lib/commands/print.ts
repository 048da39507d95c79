// Results and messages of the commands for people. Names and reasons in them come from others.

import { isReadByJournal, journalPrefix } from '../log/journal.ts';
import { inLines } from '../text/shown-text.ts';

/** Prints a result to stdout. JSON stays the same value: in it, the escapes mean the characters that they replace. */
export function print(text: string): void {
  process.stdout.write(inLines(text.endsWith('\n') ? text : `${text}\n`));
}

/** Prints a result with colors to stdout. Its values of others must be escaped already. */
export function printStyled(text: string): void {
  process.stdout.write(text);
}

/** Prints a message to stderr. Systemd's journal gets its lines as errors. */
export function printError(message: string): void {
  const text = inLines(`${message}\n`);
  const prefix = isReadByJournal(process.stderr.fd) ? journalPrefix('error') : '';
  process.stderr.write(prefix === '' ? text : text.replace(/^(?=.)/gm, prefix));
}
