// Types that the steps of a request share.

import type { IoContext } from '#lib/net/io-context.ts';
import type { Clock } from '#lib/time/clock.ts';
import type { AnswerKind, Operation, Operations } from '#schemas/api/gen/operation-types.ts';
import type { ApiName, ApiOperation } from '#schemas/api/operations.ts';
import type { Access } from '../../access/access.ts';
import type { ServiceChanges } from '../../access/service-changes.ts';
import type { AuthRequest, AuthServices } from '../../auth/request.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import type { DataModelFeed } from '../../control-channel/data-model/data-model-feed.ts';
import type { PeerConnections } from '../../control-channel/peers.ts';
import type { RouterDialer } from '../../control-channel/router-dialer.ts';
import type { Events } from '../../events/events.ts';
import type { Lab } from '../../lab/lab.ts';
import type { LabToken } from '../../lab/lab-token.ts';
import type { Network } from '../../network/network.ts';
import type { Posture } from '../../posture/posture.ts';
import type { DataIntegrity } from '../../state/integrity.ts';
import type { ApiSession } from '../../state/kinds/api-session.ts';
import type { Identity } from '../../state/kinds/identity.ts';
import type { Snapshots } from '../../state/snapshots.ts';
import type { JsonCache } from '../answers/json-cache.ts';
import type { RequestTap } from './request-tap.ts';

/** One page of a list. */
export interface ListPage<Item = unknown> {
  readonly items: readonly Item[];
  readonly pagination: { readonly limit: number; readonly offset: number; readonly totalCount: number };
  /** Missing if the list does not report it. */
  readonly filterableFields?: readonly string[];
}

/** Shared by all requests. */
export interface ApiServices extends AuthServices {
  readonly access: Access;
  readonly posture: Posture;
  readonly serviceChanges: ServiceChanges;
  readonly network: Network;
  readonly events: Events;
  /** The data model of routers, to validate it. */
  readonly dataModel: Pick<DataModelFeed, 'stateFor' | 'check'>;
  /** Undefined if this controller does not dial routers. */
  readonly routerDialer: Pick<RouterDialer, 'check'> | undefined;
  readonly identityJson: JsonCache;
  readonly integrity: DataIntegrity;
  readonly snapshots: Snapshots;
  readonly lab: Lab;
  /** The observer of requests. */
  readonly tap: RequestTap;
  /** The key to the lab API; undefined if that is turned off. */
  readonly labToken: LabToken | undefined;
  /** For the time limits of connections. */
  readonly wireClock: Clock;
  readonly io: IoContext;
  /** Base address of the APIs, for version answers. */
  readonly baseUrl: string;
  readonly controllerId: string;
  /** `tls:host:port`, where routers reach it. */
  readonly controlAddress: string;
  /** The controllers of the network. */
  readonly cluster: Cluster;
  /** Asks the other controllers. */
  readonly peers: Pick<PeerConnections, 'inspect' | 'call' | 'serve'>;
  /** Milliseconds. */
  readonly enrollmentLifetime: number;
}

/** The components that sign and store a new enrollment. */
export type EnrollmentUse = 'enrollmentLifetime' | 'state' | 'tokens' | 'clock';

/** A request for an operation, with the components that its handler uses. */
export interface ApiRequest<Uses extends keyof ApiServices, Body = unknown>
  extends AuthRequest<Pick<ApiServices, Uses>, Body> {
  readonly operation: ApiOperation;
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** Set by the session step. */
  session: ApiSession | undefined;
  identity: Identity | undefined;
  /** The `www-authenticate` header of the answer: names the token that the session still lacks. */
  challenge: string | undefined;
  /** Whether it passed all checks but those of its handler. */
  isValid: boolean;
}

/** A request with all components, for the steps, and for operations that pass them on. */
export type FullRequest<Body = unknown> = ApiRequest<keyof ApiServices, Body>;

/** Data as encoded JSON, in UTF-8. */
export interface Json {
  readonly json: Buffer;
  /** As for raw answers. */
  readonly isConstant?: boolean;
}

/** A handler's result; the envelope is added later. */
export type Answer = Data | Page | JsonPage | Raw | Json;

export interface Data<T = unknown> {
  /** Defaults to the status in the table of operations. */
  readonly status?: number;
  readonly data: T;
  /** Added to the API versions. */
  readonly meta?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** An answer without data. */
export type Done = Data<Readonly<Record<string, never>>>;

export interface Page<Item = unknown> {
  readonly page: ListPage<Item>;
}

/** A page of items, each as encoded JSON in UTF-8. */
export interface JsonPage {
  readonly jsonPage: ListPage<Buffer>;
}

/** An answer without an envelope. */
export interface Raw {
  readonly status?: number;
  readonly raw: string | Buffer;
  readonly contentType: string;
  /** The same buffer, with the same content, answers each request: it is compressed once. */
  readonly isConstant?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
}

type AnyOperation = Operation<unknown, AnswerKind, unknown, string, string>;

/** The answer that an operation's row in operations.tsv names, or the same in encoded form. */
type AnswerOf<O extends AnyOperation> =
  | Raw
  | {
      readonly none: Done;
      readonly data: Data<O['answer']> | Json;
      readonly page: Page<O['answer']> | JsonPage;
      readonly bare: never;
      readonly other: never;
    }[O['kind']];

type HandlerOf<O extends AnyOperation> = (request: FullRequest<O['body']>) => Promise<AnswerOf<O>> | AnswerOf<O>;

/** The handlers of all operations of an API, by operation id. */
export type Handlers<Api extends ApiName> = {
  readonly [Id in keyof Operations[Api]]: Operations[Api][Id] extends AnyOperation
    ? HandlerOf<Operations[Api][Id]>
    : never;
};

/** A handler of any operation. The server calls it with a body that was validated against the type of its operation. */
export type Handler = (request: FullRequest<never>) => Promise<Answer> | Answer;
