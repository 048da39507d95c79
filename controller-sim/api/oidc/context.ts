// Types and helpers of the OIDC API. It follows OAuth: no envelope, its own errors, pages for browsers.

import { ownValue } from '#lib/json/own-value.ts';
import type { AuthRequest, AuthServices } from '../../auth/request.ts';
import type { LoginError } from '../../errors/errors.ts';
import type { ApiServices } from '../operations/context.ts';
import type { AuthRequests } from './auth-requests.ts';

/** The components that handlers of this API use. */
type OidcUse = keyof AuthServices | 'events' | 'cluster' | 'peers' | 'controllerId' | 'baseUrl';
export type OidcServices = Pick<ApiServices, OidcUse | 'io'>;

/** A request of this API, with the components that its handler uses. */
export interface OidcRequest<Uses extends OidcUse> extends AuthRequest<Pick<ApiServices, Uses>> {
  readonly requests: AuthRequests;
  readonly query: URLSearchParams;
  /** The fields of a form or of a JSON object. */
  readonly body: Readonly<Record<string, unknown>>;
  readonly contentType: string;
}

export interface OidcAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** An object is sent as JSON. */
  readonly body: string | Readonly<Record<string, unknown>>;
  /** The login is rejected: the journal has the reason. */
  readonly problem?: LoginError;
}

/** A request for tokens. */
export type GrantRequest = OidcRequest<
  'posture' | 'events' | 'baseUrl' | 'controllerId' | 'state' | 'authority' | 'tokens' | 'revocations' | 'clock'
>;

/** A request with all components. */
export type FullOidcRequest = OidcRequest<OidcUse>;

export type OidcHandler = (request: FullOidcRequest) => Promise<OidcAnswer> | OidcAnswer;

export const BASE = '/oidc';

export function issuerOf({ baseUrl }: Pick<ApiServices, 'baseUrl'>): string {
  return `${baseUrl}${BASE}`;
}

/** An OAuth error (RFC 6749, section 5.2). */
export class OAuthError extends Error {
  readonly code: string;
  readonly status: number;

  constructor(code: string, description: string, status = 400) {
    super(description);
    this.name = 'OAuthError';
    this.code = code;
    this.status = status;
  }
}

/** A field of a body as text; empty if it is missing. */
export function text({ body }: Pick<OidcRequest<never>, 'body'>, name: string): string {
  const value = ownValue(body, name);
  return typeof value === 'string' ? value : '';
}

export function redirect(location: string): OidcAnswer {
  const href = escapeHtml(location);
  return {
    status: 302,
    headers: { location, 'content-type': 'text/html; charset=utf-8' },
    body: `<a href="${href}">Found</a>.\n\n`,
  };
}

export function escapeHtml(value: string): string {
  const named: Readonly<Record<string, string>> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
    "'": '&#39;',
  };
  return value.replace(/[&<>"']/g, (character) => named[character] ?? character);
}
