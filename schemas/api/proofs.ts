// The requests whose positive answer shows that a client has valid credentials: a session, a password, a certificate, a
// one-time token. Others have an answer for everybody. The simulator and the routers' API proxy share this rule.

import { BASES } from './bases.ts';
import { type ApiOperation, readOperations } from './operations.ts';
import { fitsTemplate } from './path-template.ts';

/** Operations without a session that succeed with credentials only. */
const WITH_CREDENTIALS: ReadonlySet<string> = new Set([
  'authenticate',
  'enroll',
  'enrollCa',
  'enrollErOtt',
  'enrollOtt',
  'enrollOttCa',
  'enrollToken',
  'enrollUpdb',
  'extendRouterEnrollment',
] satisfies ApiOperation['id'][]);

/** The same of the OIDC API. Its other endpoints answer strangers: pages, revocations of unknown tokens. */
const OIDC: readonly (readonly [method: string, path: string])[] = [
  ['POST', '/oidc/oauth/token'],
  ['GET', '/oidc/userinfo'],
  ['POST', '/oidc/userinfo'],
];

export function isProof({ access, id }: Pick<ApiOperation, 'access' | 'id'>): boolean {
  return access !== 'none' || WITH_CREDENTIALS.has(id);
}

export function isOidcProof(method: string, path: string): boolean {
  return OIDC.some(([ofMethod, ofPath]) => ofMethod === method && ofPath === path);
}

/** The same for requests of which only method and path are known. */
export class Proofs {
  /** Segments of paths, by method and number of segments. */
  readonly #paths = new Map<string, string[][]>();

  constructor() {
    for (const operation of readOperations())
      if (isProof(operation))
        for (const base of BASES[operation.api]) this.#add(operation.method, base + operation.path);
    for (const [method, path] of OIDC) this.#add(method, path);
  }

  /** Whether a positive answer to this request is a proof. */
  has(method: string, url: string): boolean {
    const segments = segmentsOf(url.split('?', 1)[0] ?? '');
    const templates = this.#paths.get(keyOf(method, segments)) ?? [];
    return templates.some((template) => fitsTemplate(template, segments));
  }

  #add(method: string, path: string): void {
    const segments = segmentsOf(path);
    const key = keyOf(method, segments);
    this.#paths.set(key, [...(this.#paths.get(key) ?? []), segments]);
  }
}

/** Repeated and trailing slashes do not matter to the servers. */
function segmentsOf(path: string): string[] {
  return path.split('/').filter((each) => each !== '');
}

function keyOf(method: string, segments: readonly string[]): string {
  return `${method} ${segments.length}`;
}
