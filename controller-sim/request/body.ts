// Reading request bodies: types, what is required, bounds. The texts of the refusals are those of the reference
// (reference fact: HTTP entities, section 1).

import { ApiError, invalid } from './errors.ts';

export type Mode = 'create' | 'update' | 'patch';

/** A body of a request, read field by field. In a patch only the fields that are given count. */
export class Body {
  readonly mode: Mode;
  readonly #fields: Readonly<Record<string, unknown>>;

  constructor(body: unknown, mode: Mode) {
    if (typeof body !== 'object' || body === null || Array.isArray(body))
      throw new ApiError('COULD_NOT_PARSE_BODY', {
        code: 'COULD_NOT_PARSE_BODY',
        message: 'the body must be a JSON object',
      });
    this.#fields = body as Readonly<Record<string, unknown>>;
    this.mode = mode;
  }

  /** Whether the field is given and not null. */
  has(name: string): boolean {
    return this.#fields[name] !== undefined && this.#fields[name] !== null;
  }

  raw(name: string): unknown {
    return this.#fields[name];
  }

  /** Among the known fields of a patch at least one must be given. */
  demandSomeOf(names: readonly string[]): void {
    if (this.mode === 'patch' && !names.some((name) => this.has(name)))
      throw new ApiError('UNHANDLED', { code: 'UNHANDLED', message: 'no fields updated, nothing to do' });
  }

  text(
    name: string,
    options: { required?: boolean; oneOf?: readonly string[]; atLeast?: number; atMost?: number } = {},
  ): string | undefined {
    const value = this.#value(name, 'string', options.required ?? false) as string | undefined;
    if (value === undefined) return undefined;
    if (options.oneOf && !options.oneOf.includes(value))
      throw invalid(name, `${name} in body should be one of [${options.oneOf.join(' ')}]`, value);
    if (options.atLeast !== undefined && value.length < options.atLeast)
      throw invalid(name, `${name} in body should be at least ${options.atLeast} chars long`, value);
    if (options.atMost !== undefined && value.length > options.atMost)
      throw invalid(name, `${name} in body should be at most ${options.atMost} chars long`, value);
    return value;
  }

  flag(name: string, options: { required?: boolean } = {}): boolean | undefined {
    return this.#value(name, 'boolean', options.required ?? false) as boolean | undefined;
  }

  whole(name: string, options: { required?: boolean; from?: number; to?: number } = {}): number | undefined {
    const value = this.#value(name, 'number', options.required ?? false) as number | undefined;
    if (value === undefined) return undefined;
    if (!Number.isInteger(value)) throw unparsable(name, value, 'integer');
    if (options.from !== undefined && value < options.from)
      throw invalid(name, `${name} in body should be greater than or equal to ${options.from}`, value);
    if (options.to !== undefined && value > options.to)
      throw invalid(name, `${name} in body should be less than or equal to ${options.to}`, value);
    return value;
  }

  texts(name: string, options: { required?: boolean } = {}): string[] | undefined {
    const value = this.#value(name, 'object', options.required ?? false);
    if (value === undefined) return undefined;
    if (!Array.isArray(value) || !value.every((each) => typeof each === 'string'))
      throw unparsable(name, value, 'array of strings');
    return [...value];
  }

  map(name: string, options: { required?: boolean } = {}): Record<string, unknown> | undefined {
    const value = this.#value(name, 'object', options.required ?? false);
    if (value === undefined) return undefined;
    if (Array.isArray(value)) throw unparsable(name, value, 'object');
    return { ...(value as Record<string, unknown>) };
  }

  /** A date in the RFC 3339 form. */
  date(name: string, options: { required?: boolean } = {}): Date | undefined {
    const value = this.text(name, options);
    if (value === undefined) return undefined;
    const date = new Date(value);
    if (Number.isNaN(date.getTime()))
      throw invalid(name, `${name} in body must be of type date-time: "${value}"`, value);
    return date;
  }

  #value(name: string, type: 'string' | 'boolean' | 'number' | 'object', required: boolean): unknown {
    const value = this.#fields[name];
    if (value === undefined || value === null) {
      if (required && this.mode !== 'patch') throw invalid(name, `${name} in body is required`, '<nil>');
      return undefined;
    }
    if (typeof value !== type) throw unparsable(name, value, type);
    return value;
  }
}

function unparsable(name: string, value: unknown, type: string): ApiError {
  return new ApiError('COULD_NOT_PARSE_BODY', {
    code: 'COULD_NOT_PARSE_BODY',
    message: `cannot read ${Array.isArray(value) ? 'array' : typeof value} as field ${name} of type ${type}`,
  });
}
