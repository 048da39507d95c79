// The form of router.schema.json that our programs read: JSON Schema 2020-12 with some keywords of our own, which begin
// with `x-`. They express rules that the standard cannot.

export type Bounds = readonly [min: string | number | null, max: string | number | null];

export interface ConfigSchema {
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, ConfigSchema>>;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly default?: unknown;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly format?: string;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly minLength?: number;
  readonly minItems?: number;
  readonly properties?: Readonly<Record<string, ConfigSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean;
  readonly items?: ConfigSchema;
  readonly oneOf?: readonly ConfigSchema[];
  readonly discriminator?: { readonly propertyName: string };
  /** Name of the generated type. */
  readonly 'x-type'?: string;
  /** An absent section means a section with all defaults. */
  readonly 'x-default-object'?: boolean;
  /**
   * A null value means no value, or an empty map. `tolerated` means no value and a warning: the reference does not
   * start with it. Without this keyword null is an error.
   */
  readonly 'x-null'?: 'absent' | 'tolerated' | 'empty';
  /** The same for an empty string. Without this keyword it is a value. */
  readonly 'x-empty'?: 'absent' | 'tolerated';
  /** A value of the wrong type is ignored with a warning; the reference ignores it silently. */
  readonly 'x-lenient'?: 'ignored';
  /** The number 0 is a duration, as in the reference; other numbers need a unit. */
  readonly 'x-zero'?: boolean;
  /** Numbers and booleans count as the text that they are written as. */
  readonly 'x-text'?: boolean;
  /** An endpoint that takes precedence over this key of the same section: its value is then not checked. */
  readonly 'x-unused-with'?: string;
  /** A single string means a list of one. */
  readonly 'x-as-list'?: boolean;
  /** The string `true` in any case is true, every other string is false. */
  readonly 'x-true-text'?: boolean;
  /** The reference accepts only numbers with a decimal point. */
  readonly 'x-float'?: boolean;
  /** Bounds of durations. */
  readonly 'x-min'?: string;
  readonly 'x-max'?: string;
  readonly 'x-positive'?: boolean;
  /** The nearest bound replaces a value out of these bounds, with a warning; null: no bound. */
  readonly 'x-clamp'?: Bounds;
  /** The default replaces a value out of these bounds, with a warning. */
  readonly 'x-default-outside'?: Bounds;
  /** 0 and less are not out of bounds: they switch something off. */
  readonly 'x-off'?: boolean;
  /** The default replaces an empty list, with a warning. */
  readonly 'x-empty-list'?: 'default';
  /** Has no effect; a warning says so. */
  readonly 'x-ignored'?: boolean;
  readonly 'x-deprecated'?: string;
  /** Keys of the map in older releases of the reference, which have no effect any longer, and what replaced them. */
  readonly 'x-former'?: Readonly<Record<string, string>>;
  /** Names of the same thing in other sections, which users write instead of this key. */
  readonly 'x-confused-with'?: readonly string[];
  /** Values of the discriminator in older releases of the reference, and their replacement. */
  readonly 'x-former-values'?: Readonly<Record<string, string>>;
  /** An older form of another key of the same section, in milliseconds; used if that key is missing. */
  readonly 'x-milliseconds-of'?: string;
  readonly 'x-secret'?: boolean;
  /** `pem`: the value is PEM text or the path of its file. */
  readonly 'x-source'?: 'pem';
  /** Keys are case-insensitive. */
  readonly 'x-case-insensitive'?: boolean;
  /** The reference rejects values below this. */
  readonly 'x-portability-min'?: number;
  /** The reference rejects the section if these keys are missing; the text says so. */
  readonly 'x-portability-without'?: Readonly<Record<string, string>>;
  /** If the section is present, all of these are required. */
  readonly 'x-required-together'?: readonly string[];
  /** Description of the pattern. */
  readonly 'x-allowed'?: string;
  readonly 'x-unsupported'?: boolean;
}

/** `1 to 5`, `at least 1`, `at most 5`. */
export function boundsText([min, max]: Bounds): string {
  if (min === null) return `at most ${max}`;
  return max === null ? `at least ${min}` : `${min} to ${max}`;
}
