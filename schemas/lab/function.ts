// The description of a function of the lab. Its operation of the API, its handler, its command, its method in the
// clients of other languages, the interface of the package and the reference follow from it; its implementation is a
// method in controller-sim/lab/. docs/architecture.md has the recipe.

import type { AccessLevel } from '../api/gen/operation-types.ts';

/** A type of JSON data, in the notation of bodies.json and answers.json: `$ref` names one of there or of a group. */
export interface LabType {
  readonly [keyword: string]: unknown;
}

export type QueryType = 'string' | 'integer' | 'boolean';

export interface LabFunction {
  /** Unique: names the operation, and the method in the clients of other languages. */
  readonly id: string;
  /** `POST /clock/advance`, below `/lab/v1`. */
  readonly route: string;
  readonly access: AccessLevel;
  /** Fields of the query. */
  readonly query?: Readonly<Record<string, QueryType>>;
  /** Those that a request must have. */
  readonly required?: readonly string[];
  /** As in operations.tsv: a type, or a content type, or both; ? = optional. */
  readonly body?: string;
  /** As in operations.tsv; default: no data. */
  readonly answer?: string;
  /** Status of a successful answer; default: 200. */
  readonly status?: number;
  /** Statuses of errors. */
  readonly rejections: readonly number[];
  /** Whether the function finds unknown fields of its body itself, and knows more about them. */
  readonly checksFields?: boolean;
  /** Whether the body is a document of its own instead of fields. */
  readonly hasDocument?: boolean;
  /**
   * The call of the lab that answers, with fields of the request: `restore(name, options)`; `options` are the fields
   * that it does not name. A function without a call has a handler in controller-sim/api/lab/.
   */
  readonly call?: string;
  /** Methods of the package, with the commands for them; default: that of `call`. */
  readonly methods?: Readonly<Record<string, string>>;
  readonly commands?: readonly LabCommand[];
  /** For clients of other languages: a test expects that this field of the answer is there and true. */
  readonly expects?: {
    readonly field: string;
    /** The method that returns the answer in any case. */
    readonly look: string;
  };
}

/** A command that sends one request. Commands of other forms are in controller-sim/commands/. */
export interface LabCommand {
  /** `fault remove`. */
  readonly name: string;
  readonly text: string;
  /** By field of the request, or `field:name`: the meaning. */
  readonly arguments?: Readonly<Record<string, string>>;
  /** By field of the request, in this order; further names are options of the output. */
  readonly options?: Readonly<Record<string, LabOption>>;
  /** Whether each further field of the body is an option, with its own description. */
  readonly hasFields?: boolean;
  /** Fields that the command itself decides. */
  readonly fixed?: Readonly<Record<string, unknown>>;
  readonly examples: readonly string[];
  /** The line that it prints, with fields of the answer and the request in braces; without it: the answer as JSON. */
  readonly prints?: string;
}

export interface LabOption {
  /** `--for <duration>`; default: by the name of the field. */
  readonly flags?: string;
  /** Default: the description of the field. */
  readonly text?: string;
  /** The form of the value, if the command needs one. */
  readonly required?: string;
  readonly default?: unknown;
  /** The texts that it takes, and the remedy for others. */
  readonly pattern?: readonly [pattern: RegExp, remedy: string];
}

/** A command with others below it. */
export interface LabCommandGroup {
  readonly text: string;
  /** Those that come first in the help, in this order; default: the order of the functions. */
  readonly order?: readonly string[];
  readonly examples: readonly string[];
}

/** Functions of one subject. */
export interface LabGroup {
  /** Title in the reference. */
  readonly section: string;
  readonly functions: readonly LabFunction[];
  /** Methods of the package without an operation, with the commands for them. */
  readonly methods?: Readonly<Record<string, string>>;
  /** Commands that come first in the help, in this order. */
  readonly commandOrder?: readonly string[];
  /** By name. */
  readonly commandGroups?: Readonly<Record<string, LabCommandGroup>>;
  readonly bodies?: Readonly<Record<string, LabType>>;
  readonly answers?: Readonly<Record<string, LabType>>;
}
