// What the steps of a request work with.

import type { X509Certificate } from 'node:crypto';
import type { Clock } from '#lib/clock.ts';
import type { Log } from '#lib/log.ts';
import type { Access } from '../access/access.ts';
import type { Tokens } from '../jwt/tokens.ts';
import type { Authority } from '../pki/authority.ts';
import type { State } from '../state/state.ts';
import type { ApiSession, Identity } from '../state/types.ts';

/** One page of a list. */
export interface ListPage {
  readonly items: readonly unknown[];
  readonly pagination: { readonly limit: number; readonly offset: number; readonly totalCount: number };
  readonly filterableFields: readonly string[];
}

/** Hashes passwords and compares them, in a time that tells nothing. */
export interface PasswordHasher {
  hash(password: string): Promise<string>;
  /** `hash` is undefined for a user that does not exist. */
  verify(password: string, hash: string | undefined): Promise<boolean>;
}

/** What a router that is connected now says of itself; the network room knows. */
export interface RouterStatus {
  readonly isOnline: boolean;
  readonly hostname: string;
  readonly supportedProtocols: Readonly<Record<string, string>>;
  readonly syncStatus: string;
  readonly versionInfo: { version: string; revision: string; buildDate: string; os: string; arch: string } | undefined;
}

/** What stays the same for all requests. */
export interface ApiServices {
  readonly state: State;
  readonly access: Access;
  readonly authority: Authority;
  readonly tokens: Tokens;
  readonly passwords: PasswordHasher;
  readonly clock: Clock;
  readonly log: Log;
  /** Addresses of the APIs, for version answers. */
  readonly baseUrl: string;
  readonly controllerId: string;
  routerStatus(routerId: string): RouterStatus;
  /** Milliseconds. */
  readonly sessionLifetime: number;
  readonly enrollmentLifetime: number;
}

export interface ApiRequest {
  readonly services: ApiServices;
  readonly api: 'management' | 'client';
  readonly method: string;
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Parsed JSON, or the text of other content types. */
  readonly body: unknown;
  /** What the client presented in TLS, leaf first. */
  readonly certificates: readonly X509Certificate[];
  readonly remoteAddress: string;
  /** Set by the session step. */
  session: ApiSession | undefined;
  identity: Identity | undefined;
}

/** What a handler answers; the envelope is put round it. */
export type Answer = Data | Page | Raw;

export interface Data {
  readonly status?: number;
  readonly data: unknown;
}

export interface Page {
  readonly page: ListPage;
}

export interface Raw {
  readonly status?: number;
  readonly raw: string | Buffer;
  readonly contentType: string;
}

/** Who may ask: anybody, somebody with a session, an administrator. */
export type Requirement = 'anybody' | 'session' | 'admin';

export interface Operation {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below the base of the API; parts that begin with a colon are parameters. */
  readonly path: string;
  readonly requires: Requirement;
  handle(request: ApiRequest): Promise<Answer> | Answer;
}
