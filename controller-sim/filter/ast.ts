// The syntax tree of a filter.

export type Value =
  | { readonly type: 'string'; readonly value: string }
  | { readonly type: 'number'; readonly value: number }
  | { readonly type: 'datetime'; readonly value: number }
  | { readonly type: 'bool'; readonly value: boolean }
  | { readonly type: 'null' };

/** Comparison of a set: all values, any value, or their count. */
export type SetFunction = 'anyOf' | 'allOf' | 'count';

export interface Subject {
  readonly field: string;
  readonly function?: SetFunction;
  /** `from FIELD where QUERY`: only with count and isEmpty. */
  readonly where?: Query;
}

export type Comparison = '=' | '!=' | '<' | '<=' | '>' | '>=' | 'contains' | 'icontains';

export type Predicate =
  | { readonly kind: 'and' | 'or'; readonly parts: readonly Predicate[] }
  | { readonly kind: 'not'; readonly part: Predicate }
  | { readonly kind: 'constant'; readonly value: boolean }
  | { readonly kind: 'flag'; readonly subject: Subject }
  | { readonly kind: 'isEmpty'; readonly subject: Subject }
  | {
      readonly kind: 'compare';
      readonly subject: Subject;
      readonly operator: Comparison;
      readonly value: Value;
      readonly negated: boolean;
    }
  | { readonly kind: 'in'; readonly subject: Subject; readonly values: readonly Value[]; readonly negated: boolean }
  | {
      readonly kind: 'between';
      readonly subject: Subject;
      readonly low: Value;
      readonly high: Value;
      readonly negated: boolean;
    };

export interface SortField {
  readonly field: string;
  readonly descending: boolean;
}

export interface Query {
  readonly predicate?: Predicate;
  readonly sort?: readonly SortField[];
  readonly skip?: number;
  /** `none` means unlimited. */
  readonly limit?: number | 'none';
}
