// What the steps of a request work with.

import type { X509Certificate } from 'node:crypto';
import type { Clock } from '#lib/clock.ts';
import type { Log } from '#lib/log.ts';
import type { Random } from '#lib/random.ts';
import type { ApiOperation } from '#schemas/api/operations.ts';
import type { Access } from '../access/access.ts';
import type { ServiceChanges } from '../access/service-changes.ts';
import type { Activity } from '../auth/activity.ts';
import type { Jwks } from '../auth/jwks.ts';
import type { Lockouts } from '../auth/lockouts.ts';
import type { Revocations } from '../auth/revocations.ts';
import type { Events } from '../events/events.ts';
import type { Tokens } from '../jwt/tokens.ts';
import type { CodeGuesses } from '../mfa/code-guesses.ts';
import type { Network } from '../network/network.ts';
import type { Authority } from '../pki/authority.ts';
import type { Posture } from '../posture/posture.ts';
import type { DataIntegrity } from '../state/integrity.ts';
import type { State } from '../state/state.ts';
import type { ApiSession, Identity } from '../state/types.ts';
import type { Snapshots } from '../store/snapshots.ts';
import type { TextCache } from './text-cache.ts';

/** One page of a list. */
export interface ListPage {
  /** Texts of JSON where `isText`. */
  readonly items: readonly unknown[];
  readonly isText?: boolean;
  readonly pagination: { readonly limit: number; readonly offset: number; readonly totalCount: number };
  /** Left out where a list says nothing of it. */
  readonly filterableFields?: readonly string[];
}

/** Hashes passwords and compares them, in a time that tells nothing. */
export interface PasswordHasher {
  hash(password: string): Promise<string>;
  /** `hash` is undefined for a user that does not exist. */
  verify(password: string, hash: string | undefined, remoteAddress?: string): Promise<boolean>;
}

/** What stays the same for all requests. */
export interface ApiServices {
  readonly state: State;
  readonly access: Access;
  readonly authority: Authority;
  readonly tokens: Tokens;
  readonly passwords: PasswordHasher;
  readonly lockouts: Lockouts;
  readonly codeGuesses: CodeGuesses;
  readonly jwks: Jwks;
  readonly revocations: Revocations;
  readonly activity: Activity;
  readonly posture: Posture;
  readonly serviceChanges: ServiceChanges;
  readonly network: Network;
  readonly events: Events;
  /** Identities as they are shown. */
  readonly shownIdentities: TextCache;
  readonly integrity: DataIntegrity;
  readonly snapshots: Snapshots;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Addresses of the APIs, for version answers. */
  readonly baseUrl: string;
  readonly controllerId: string;
  /** `tls:host:port`, as routers reach it. */
  readonly controlAddress: string;
  /** Whether it answers as the only member of a cluster. */
  readonly isClusterMember: boolean;
  /** Milliseconds. */
  readonly sessionLifetime: number;
  readonly enrollmentLifetime: number;
}

export interface ApiRequest {
  readonly services: ApiServices;
  readonly operation: ApiOperation;
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Parsed JSON, or the text of other content types. */
  readonly body: unknown;
  /** What the client presented, leaf first. Throws ApiError for a proxy that may not say so. */
  readonly certificates: readonly X509Certificate[];
  /** The edge router whose API proxy passes the request on; undefined for the client's own connection. */
  readonly viaRouter: string | undefined;
  readonly remoteAddress: string;
  /** Set by the session step. */
  session: ApiSession | undefined;
  identity: Identity | undefined;
  /** The header `www-authenticate` of the answer: names the token that the session still owes. */
  challenge: string | undefined;
}

/** What a login looks at. */
export type LoginRequest = Pick<
  ApiRequest,
  'services' | 'headers' | 'body' | 'certificates' | 'viaRouter' | 'remoteAddress'
>;

/** Data that is JSON already. */
export interface ShownText {
  readonly json: string;
}

/** What a handler answers; the envelope is put round it. */
export type Answer = Data | Page | Raw | ShownText;

export interface Data {
  /** That of the operation's table when left out. */
  readonly status?: number;
  readonly data: unknown;
  /** Beside the versions of the APIs. */
  readonly meta?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Page {
  readonly page: ListPage;
}

/** An answer without an envelope. */
export interface Raw {
  readonly status?: number;
  readonly raw: string | Buffer;
  readonly contentType: string;
}

export type Handler = (request: ApiRequest) => Promise<Answer> | Answer;

/** By the ids of their operations. */
export type Handlers = Readonly<Record<string, Handler>>;
