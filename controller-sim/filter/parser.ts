// Parses filter tokens to a Query: predicate, then `sort by`, `skip`, `limit`, each optional and in this order. `and`
// binds tighter than `or`. `not` extends to the closing bracket (reference fact: `not a and b` is `not (a and b)`).

import { ownValue } from '#lib/json/own-value.ts';
import type { Comparison, Predicate, Query, SetFunction, SortField, Subject, Value } from './ast.ts';
import { FilterError, type Token, tokenize } from './lexer.ts';

const COMPARISONS = ['=', '!=', '<', '<=', '>', '>='] as const;
const SET_FUNCTIONS: Readonly<Record<string, SetFunction>> = { anyof: 'anyOf', allof: 'allOf', count: 'count' };
/**
 * Types on the right side of an operator; `=` and `!=` accept all (reference fact: HTTP behaviour, Filter language).
 */
const ORDERED = ['string', 'number', 'datetime'] as const;
const OPERANDS: Readonly<Record<string, readonly Value['type'][]>> = {
  '<': ORDERED,
  '<=': ORDERED,
  '>': ORDERED,
  '>=': ORDERED,
  in: ORDERED,
  between: ['number', 'datetime'],
  contains: ['string', 'number'],
  icontains: ['string'],
};
/** Limit on nesting, to protect the stack. */
const MAX_DEPTH = 100;
/** Each entity of a list is compared with all of them. The elements of `in [...]` do not count. */
const MAX_COMPARISONS = 1_000;
/** No list has as many fields. */
const MAX_SORT_FIELDS = 100;

/** Throws FilterError. An empty text is a query that selects everything. */
export function parseQuery(text: string): Query {
  if (text.trim() === '') return {};
  const parser = new Parser(tokenize(text));
  const query = parser.query();
  parser.expectEnd();
  return query;
}

/** Parses the text of a sort parameter, such as `name desc, id`. */
export function parseSort(text: string): readonly SortField[] {
  const parser = new Parser(tokenize(text));
  const fields = parser.sortFields();
  parser.expectEnd();
  return fields;
}

class Parser {
  readonly #tokens: readonly Token[];
  #position = 0;
  #depth = 0;
  #comparisons = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  query(): Query {
    const first = this.#peek();
    const hasPredicate =
      first.kind !== 'end' && !this.#isWord('sort') && !this.#isWord('skip') && !this.#isWord('limit');
    const predicate = hasPredicate ? this.#or() : undefined;
    const sort = this.#acceptWord('sort') ? (this.#expectWord('by'), this.sortFields()) : undefined;
    const skip = this.#acceptWord('skip') ? this.#integer() : undefined;
    const limit = this.#acceptWord('limit')
      ? this.#acceptWord('none')
        ? ('none' as const)
        : this.#integer()
      : undefined;
    return {
      ...(predicate && { predicate }),
      ...(sort && { sort }),
      ...(skip !== undefined && { skip }),
      ...(limit !== undefined && { limit }),
    };
  }

  sortFields(): SortField[] {
    const fields: SortField[] = [];
    do {
      const field = this.#name();
      const descending = this.#acceptWord('desc');
      if (!descending) this.#acceptWord('asc');
      fields.push({ field, descending });
      if (fields.length > MAX_SORT_FIELDS)
        throw new FilterError(`the sort has more than ${MAX_SORT_FIELDS} fields`, this.#peek());
    } while (this.#acceptSymbol(','));
    return fields;
  }

  expectEnd(): void {
    if (this.#peek().kind !== 'end') throw this.#unexpected();
  }

  #or(): Predicate {
    const parts = [this.#and()];
    while (this.#acceptWord('or')) parts.push(this.#and());
    return parts.length === 1 ? (parts[0] as Predicate) : { kind: 'or', parts };
  }

  #and(): Predicate {
    const parts = [this.#unary()];
    while (this.#acceptWord('and')) parts.push(this.#unary());
    return parts.length === 1 ? (parts[0] as Predicate) : { kind: 'and', parts };
  }

  #unary(): Predicate {
    if (++this.#depth > MAX_DEPTH) throw new FilterError('the filter is nested too deeply', this.#peek());
    try {
      if (this.#acceptWord('not')) return { kind: 'not', part: this.#or() };
      if (this.#acceptSymbol('(')) {
        const inner = this.#or();
        this.#expectSymbol(')');
        return inner;
      }
      return this.#operation();
    } finally {
      this.#depth--;
    }
  }

  #operation(): Predicate {
    if (++this.#comparisons > MAX_COMPARISONS)
      throw new FilterError(`the filter has more than ${MAX_COMPARISONS} comparisons`, this.#peek());
    if (this.#isWord('isempty') && this.#peekAfter().text === '(') return { kind: 'isEmpty', subject: this.#set() };
    if (this.#acceptWord('true')) return { kind: 'constant', value: true };
    if (this.#acceptWord('false')) return { kind: 'constant', value: false };
    const subject = this.#subject();
    const negated = this.#acceptWord('not');
    const next = this.#peek();
    if (!negated && next.kind === 'symbol' && (COMPARISONS as readonly string[]).includes(next.text)) {
      this.#position++;
      const value = this.#value(OPERANDS[next.text]);
      return { kind: 'compare', subject, operator: next.text as Comparison, value, negated: false };
    }
    for (const operator of ['contains', 'icontains'] as const) {
      if (this.#acceptWord(operator))
        return { kind: 'compare', subject, operator, value: this.#value(OPERANDS[operator]), negated };
    }
    if (this.#acceptWord('in')) return { kind: 'in', subject, values: this.#values(), negated };
    if (this.#acceptWord('between')) {
      const low = this.#value(OPERANDS.between);
      this.#expectWord('and');
      return { kind: 'between', subject, low, high: this.#value([low.type]), negated };
    }
    if (negated) throw this.#unexpected();
    return { kind: 'flag', subject };
  }

  #subject(): Subject {
    const token = this.#peek();
    const setFunction = ownValue(SET_FUNCTIONS, token.text.toLowerCase());
    if (token.kind === 'word' && setFunction && this.#peekAfter().text === '(')
      return { ...this.#set(), function: setFunction };
    return { field: this.#name() };
  }

  /** `NAME ( field )` or `NAME ( from field where query )`. */
  #set(): Subject {
    this.#position++;
    this.#expectSymbol('(');
    let subject: Subject;
    if (this.#acceptWord('from')) {
      const field = this.#name();
      this.#expectWord('where');
      subject = { field, where: this.query() };
    } else {
      subject = { field: this.#name() };
    }
    this.#expectSymbol(')');
    return subject;
  }

  #values(): Value[] {
    this.#expectSymbol('[');
    const first = this.#value(OPERANDS.in);
    const values = [first];
    while (this.#acceptSymbol(',')) values.push(this.#value([first.type]));
    this.#expectSymbol(']');
    return values;
  }

  /** A value of one of these types, or of any. */
  #value(types?: readonly Value['type'][]): Value {
    const start = this.#position;
    const value = this.#anyValue();
    if (!types || types.includes(value.type)) return value;
    this.#position = start;
    throw this.#unexpected();
  }

  #anyValue(): Value {
    const token = this.#peek();
    if (token.kind === 'string') return this.#advance({ type: 'string', value: token.text });
    if (token.kind === 'number') return this.#advance({ type: 'number', value: Number(token.text) });
    if (this.#acceptWord('true')) return { type: 'bool', value: true };
    if (this.#acceptWord('false')) return { type: 'bool', value: false };
    if (this.#acceptWord('null')) return { type: 'null' };
    if (this.#isWord('datetime')) return this.#datetime();
    throw this.#unexpected();
  }

  /** The text between the brackets is not quoted, so it is joined from its tokens. */
  #datetime(): Value {
    const start = this.#peek();
    this.#position++;
    this.#expectSymbol('(');
    let text = '';
    while (!this.#isSymbol(')') && this.#peek().kind !== 'end') text += this.#tokens[this.#position++]?.text;
    this.#expectSymbol(')');
    const value = Date.parse(text);
    if (Number.isNaN(value)) throw new FilterError(`invalid datetime ${text}`, start);
    return { type: 'datetime', value };
  }

  #integer(): number {
    const token = this.#peek();
    if (token.kind !== 'number' || !/^[-+]?\d+$/.test(token.text)) throw this.#unexpected();
    return this.#advance(Number(token.text));
  }

  #name(): string {
    const token = this.#peek();
    if (token.kind !== 'word') throw this.#unexpected();
    return this.#advance(token.text);
  }

  #advance<T>(value: T): T {
    this.#position++;
    return value;
  }

  #peek(): Token {
    return this.#tokens[this.#position] as Token;
  }

  #peekAfter(): Token {
    return this.#tokens[Math.min(this.#position + 1, this.#tokens.length - 1)] as Token;
  }

  #isWord(word: string): boolean {
    const token = this.#peek();
    return token.kind === 'word' && token.text.toLowerCase() === word;
  }

  #acceptWord(word: string): boolean {
    if (!this.#isWord(word)) return false;
    this.#position++;
    return true;
  }

  #expectWord(word: string): void {
    if (!this.#acceptWord(word)) throw this.#unexpected();
  }

  #isSymbol(symbol: string): boolean {
    const token = this.#peek();
    return token.kind === 'symbol' && token.text === symbol;
  }

  #acceptSymbol(symbol: string): boolean {
    if (!this.#isSymbol(symbol)) return false;
    this.#position++;
    return true;
  }

  #expectSymbol(symbol: string): void {
    if (!this.#acceptSymbol(symbol)) throw this.#unexpected();
  }

  #unexpected(): FilterError {
    const token = this.#peek();
    return new FilterError(`unexpected input '${token.text}'`, token);
  }
}
