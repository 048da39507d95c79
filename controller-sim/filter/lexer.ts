// Splits filter text into tokens. Keywords are case-insensitive. A name has letters and underscores, its later parts
// also dashes, and may be in single quotes (reference fact: HTTP behaviour, Filter language).

export type TokenKind = 'word' | 'string' | 'number' | 'symbol' | 'end';

export interface Token {
  readonly kind: TokenKind;
  /** The source text; for strings the value. */
  readonly text: string;
  readonly line: number;
  /** Counted from 0, as in the reference. */
  readonly column: number;
}

/** An invalid filter. Errors of meaning, as opposed to syntax, have no position. */
export class FilterError extends Error {
  readonly place: { readonly text: string; readonly line: number; readonly column: number } | undefined;

  constructor(message: string, place?: { text: string; line: number; column: number }) {
    super(message);
    this.name = 'FilterError';
    this.place = place && { text: place.text, line: place.line, column: place.column };
  }
}

/** Limit in characters. Filters of people and programs are shorter. */
const MAX_FILTER_LENGTH = 64 * 1024;
const PATTERN =
  /(?<space>[ \t\r\n]+)|(?<string>"(?:[^"\\]|\\["\\fnrt])*")|(?<quoted>'[A-Za-z_][\w.-]*')|(?<number>[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)|(?<word>[A-Za-z_][\w]*(?:\.[\w-]+)*)|(?<colon>:)|(?<symbol>!=|<=|>=|[=<>()[\],])/gy;
const ESCAPES: Readonly<Record<string, string>> = { '"': '"', '\\': '\\', f: '\f', n: '\n', r: '\r', t: '\t' };

/** Throws FilterError for a character that starts no token. */
export function tokenize(text: string): Token[] {
  if (text.length > MAX_FILTER_LENGTH)
    throw new FilterError('the filter is too long', { text: '', line: 1, column: 0 });
  const tokens: Token[] = [];
  let line = 1;
  let lineStart = 0;
  PATTERN.lastIndex = 0;
  while (PATTERN.lastIndex < text.length) {
    const start = PATTERN.lastIndex;
    const at = { line, column: start - lineStart };
    const groups = PATTERN.exec(text)?.groups;
    if (!groups)
      throw new FilterError(`token recognition error at: '${text.slice(start, start + 1)}'`, {
        text: text.slice(start, start + 1),
        ...at,
      });
    const { space, string, quoted, number, word, symbol, colon } = groups;
    if (space !== undefined) {
      for (const [index, character] of [...space].entries()) {
        if (character !== '\n') continue;
        line++;
        lineStart = start + index + 1;
      }
    } else if (string !== undefined) tokens.push({ kind: 'string', text: unescaped(string.slice(1, -1)), ...at });
    else if (quoted !== undefined) tokens.push({ kind: 'word', text: quoted.slice(1, -1), ...at });
    else if (number !== undefined) tokens.push({ kind: 'number', text: number, ...at });
    else tokens.push({ kind: word === undefined ? 'symbol' : 'word', text: word ?? symbol ?? colon ?? '', ...at });
  }
  tokens.push({ kind: 'end', text: '<EOF>', line, column: text.length - lineStart });
  return tokens;
}

function unescaped(text: string): string {
  return text.replace(/\\(.)/g, (_whole, character: string) => ESCAPES[character] ?? character);
}
