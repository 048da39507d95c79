// Finds the places of a source file that a mutation can change. Node strips the types first, which keeps all positions:
// what remains are the tokens of the program. A mutant changes one of them, or removes one statement.

import { stripTypeScriptTypes } from 'node:module';
import { createScanner, type Scanner, SyntaxKind } from 'typescript/unstable/ast';

export interface Mutant {
  /** From 1. */
  readonly line: number;
  readonly start: number;
  readonly end: number;
  readonly from: string;
  readonly to: string;
}

/** Replacements of operators and words: signs, boundaries, conditions. */
const REPLACED: Readonly<Record<string, string>> = {
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '===': '!==',
  '!==': '===',
  '&&': '||',
  '||': '&&',
  '??': '&&',
  '+': '-',
  '-': '+',
  '*': '/',
  '/': '*',
  '+=': '-=',
  '-=': '+=',
  '++': '--',
  '--': '++',
  '!': '',
  true: 'false',
  false: 'true',
};
/** A call or an assignment that is a whole line. */
const STATEMENT = /^ {2,}(?:await |void )?[\w#.?]+(?:\(.*\)| [+-]?= .*);$/;
/** A field that is false or undefined in the beginning is as good as false without this line. */
const UNSET_FIELD = /^ {2}(?:(?:static |override )?readonly \w+|#\w+)(?:: [^=]+)? = (?:false|undefined);$/;
const SLASHES: ReadonlySet<SyntaxKind> = new Set([SyntaxKind.SlashToken, SyntaxKind.SlashEqualsToken]);
/** After these, a slash divides; after other tokens it begins a regular expression. */
const OPERANDS: ReadonlySet<SyntaxKind> = new Set([
  SyntaxKind.Identifier,
  SyntaxKind.PrivateIdentifier,
  SyntaxKind.NumericLiteral,
  SyntaxKind.BigIntLiteral,
  SyntaxKind.StringLiteral,
  SyntaxKind.CloseParenToken,
  SyntaxKind.CloseBracketToken,
  SyntaxKind.ThisKeyword,
]);

/** All mutants of a text, in its order. */
export function mutantsOf(text: string): Mutant[] {
  const code = stripTypeScriptTypes(text);
  const found = [...tokensOf(code), ...statementsOf(code, text)];
  const lines = lineStarts(code);
  return found
    .map((each) => ({ ...each, line: lines.findLastIndex((start) => start <= each.start) + 1 }))
    .toSorted((a, b) => a.start - b.start || a.end - b.end);
}

export function mutated(text: string, { start, end, to }: Mutant): string {
  return text.slice(0, start) + to + text.slice(end);
}

function* tokensOf(code: string): Generator<Omit<Mutant, 'line'>> {
  const scanner = createScanner(true, undefined, code);
  let before = SyntaxKind.Unknown;
  /** Open braces, for each template whose expression is being read. */
  const templates: number[] = [];
  for (let kind = scanner.scan(); kind !== SyntaxKind.EndOfFile; kind = scanner.scan()) {
    const token = scanned(scanner, kind, before, templates);
    const [start, end] = [scanner.getTokenStart(), scanner.getTokenEnd()];
    const from = code.slice(start, end);
    const to = token === SyntaxKind.NumericLiteral ? nextNumber(from) : ownReplacement(from);
    if (to !== undefined) yield { start, end, from, to };
    before = token;
  }
}

/** The scanner cannot know where an expression, a regular expression or the rest of a template begins. */
function scanned(scanner: Scanner, kind: SyntaxKind, before: SyntaxKind, templates: number[]): SyntaxKind {
  if (kind === SyntaxKind.GreaterThanToken) return scanner.reScanGreaterToken();
  if (SLASHES.has(kind) && !OPERANDS.has(before)) return scanner.reScanSlashToken();
  if (kind === SyntaxKind.TemplateHead) templates.push(0);
  if (kind === SyntaxKind.OpenBraceToken && templates.length > 0) templates.push((templates.pop() ?? 0) + 1);
  if (kind !== SyntaxKind.CloseBraceToken || templates.length === 0) return kind;
  const open = templates.pop() ?? 0;
  if (open > 0) {
    templates.push(open - 1);
    return kind;
  }
  const rest = scanner.reScanTemplateToken(false);
  if (rest === SyntaxKind.TemplateMiddle) templates.push(0);
  return rest;
}

function* statementsOf(code: string, text: string): Generator<Omit<Mutant, 'line'>> {
  let start = 0;
  const typed = text.split('\n');
  for (const [index, line] of code.split('\n').entries()) {
    const from = line.trimStart();
    const end = start + line.length;
    if (STATEMENT.test(line) && !UNSET_FIELD.test(typed[index] ?? ''))
      yield { start: end - from.length, end, from, to: ';' };
    start = end + 1;
  }
}

function ownReplacement(token: string): string | undefined {
  return Object.hasOwn(REPLACED, token) ? REPLACED[token] : undefined;
}

function nextNumber(token: string): string | undefined {
  return /^[\d_]+$/.test(token) ? String(Number(token.replaceAll('_', '')) + 1) : undefined;
}

function lineStarts(code: string): number[] {
  return [0, ...Array.from(code.matchAll(/\n/g), ({ index }) => index + 1)];
}
