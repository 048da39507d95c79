// The shape of router.schema.json as our programs read it: JSON Schema 2020-12 with a few words of our own, which begin with
// `x-`. They say what the standard cannot.

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
  readonly minItems?: number;
  readonly properties?: Readonly<Record<string, ConfigSchema>>;
  readonly required?: readonly string[];
  readonly items?: ConfigSchema;
  readonly oneOf?: readonly ConfigSchema[];
  readonly discriminator?: { readonly propertyName: string };
  /** Name of the generated type. */
  readonly 'x-type'?: string;
  /** A section that is absent stands for one with all its defaults. */
  readonly 'x-default-object'?: boolean;
  /** What a null value stands for: no value, or an empty map. Elsewhere it is a mistake. */
  readonly 'x-null'?: 'absent' | 'empty';
  /** A value of a wrong type is passed over with a warning, as the reference does silently. */
  readonly 'x-lenient'?: 'ignored';
  /** One text stands for a list of one. */
  readonly 'x-as-list'?: boolean;
  /** The text `true` in any case is true, every other text is false. */
  readonly 'x-true-text'?: boolean;
  /** The reference takes only numbers with a point. */
  readonly 'x-float'?: boolean;
  /** Bounds of durations. */
  readonly 'x-min'?: string;
  readonly 'x-max'?: string;
  readonly 'x-positive'?: boolean;
  /** Values outside are brought inside with a warning. */
  readonly 'x-clamp'?: readonly [string | number, string | number];
  /** Has no effect; said once when given. */
  readonly 'x-ignored'?: boolean;
  readonly 'x-deprecated'?: string;
  readonly 'x-secret'?: boolean;
  /** `pem`: the value is PEM text or the file that holds it. */
  readonly 'x-source'?: 'pem';
  /** Keys are compared without case. */
  readonly 'x-case-insensitive'?: boolean;
  /** The reference refuses values below this. */
  readonly 'x-portability-min'?: number;
  /** The reference refuses the section when it is given without these keys; the text says so. */
  readonly 'x-portability-without'?: Readonly<Record<string, string>>;
  /** When the section is given, all of these are needed. */
  readonly 'x-required-together'?: readonly string[];
  /** What a pattern allows, in words. */
  readonly 'x-allowed'?: string;
  readonly 'x-unsupported'?: boolean;
}
