// The types of a client: the collections of an API, and its operations with their parameters, bodies and answers.

import type { COLLECTIONS } from '#schemas/api/gen/collections.ts';
import type { AnswerKind, Operation, Operations } from '#schemas/api/gen/operation-types.ts';

export type ClientApi = keyof typeof COLLECTIONS;

type AnyOperation = Operation<unknown, AnswerKind, unknown, string, string>;
type Value = string | number | boolean;
type OperationOf<Api extends ClientApi, Id> = Id extends keyof Operations[Api]
  ? Operations[Api][Id] extends AnyOperation
    ? Operations[Api][Id]
    : never
  : never;

/** The parts of a request: `params` for the path, `query` and `body`. */
export type CallOptions<O extends AnyOperation> = ([O['params']] extends [never]
  ? { readonly params?: never }
  : { readonly params: Readonly<Record<O['params'], string>> }) &
  (undefined extends O['body'] ? { readonly body?: Exclude<O['body'], undefined> } : { readonly body: O['body'] }) & {
    readonly query?: Readonly<Partial<Record<O['query'] | 'sort', Value>>>;
  };

/** The data of an answer: of a list, one page of its items; of answers other than JSON, the text. */
export type CallResult<O extends AnyOperation> = {
  readonly none: undefined;
  readonly data: O['answer'];
  readonly page: readonly O['answer'][];
  readonly bare: O['answer'];
  readonly other: string;
}[O['kind']];

/** The options may be left out if nothing in them is required. */
type CallArguments<O extends AnyOperation> =
  Record<never, never> extends CallOptions<O> ? [options?: CallOptions<O>] : [options: CallOptions<O>];

/** The query of a list. Without a limit, all pages are read. */
export type ListOptions<O extends AnyOperation> = NonNullable<CallOptions<O>['query']>;

interface Verbs<O extends AnyOperation> {
  /** All entities, or those that the filter selects. */
  readonly list: (query?: ListOptions<O>) => Promise<O['answer'][]>;
  readonly create: (body: O['body']) => Promise<O['answer']>;
  readonly get: (id: string) => Promise<O['answer']>;
  /** Replaces all fields. */
  readonly update: (id: string, body: O['body']) => Promise<void>;
  /** Changes only the given fields. */
  readonly patch: (id: string, body: O['body']) => Promise<void>;
  readonly delete: (id: string) => Promise<void>;
}

export type Collection<Api extends ClientApi, Ids> = {
  readonly [Verb in keyof Ids & keyof Verbs<AnyOperation>]: Verbs<OperationOf<Api, Ids[Verb]>>[Verb];
};

export type Collections<Api extends ClientApi> = {
  readonly [Name in keyof (typeof COLLECTIONS)[Api]]: Collection<Api, (typeof COLLECTIONS)[Api][Name]>;
};

/** A client of one API, such as `client.services.create({ name: 'wiki', encryptionRequired: true })`. */
export type ApiClient<Api extends ClientApi> = Collections<Api> & {
  /** Any operation, by its id (docs/reference/api.md). Rejects with ApiRequestError. */
  call<Id extends keyof Operations[Api] & string>(
    id: Id,
    ...options: CallArguments<OperationOf<Api, Id>>
  ): Promise<CallResult<OperationOf<Api, Id>>>;
  /** The token of the session, for other clients. Logs in first if necessary. */
  token(): Promise<string>;
  /** Closes the connections. The session ends by itself. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
};
