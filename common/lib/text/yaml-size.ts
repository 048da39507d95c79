// The size of a YAML text for its parser, which takes microseconds for each token: known before it begins.

import { Lexer } from 'yaml';

/** Tokens: five for each entry of a map. The parser needs about a second for them. */
export const MAX_TOKENS = 300_000;

/** Whether a text has more than MAX_TOKENS. */
export function isTooLong(text: string): boolean {
  if (text.length <= MAX_TOKENS) return false;
  let count = 0;
  for (const _token of new Lexer().lex(text)) if (++count > MAX_TOKENS) return true;
  return false;
}
