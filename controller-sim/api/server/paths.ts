// Methods of each path of the simulator: for 405 instead of 404, and for the header `allow`.

import { BASES } from '../http/bases.ts';
import { BASE as OIDC_BASE } from '../oidc/context.ts';
import { OIDC_ROUTES } from '../oidc/routes.ts';
import { HEALTH_PATHS } from './health.ts';
import type { Route } from './routes.ts';
import type { StaticPage } from './static-pages.ts';

export const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

/** A path, optionally with `{id}` segments, and one of its methods. */
interface Served {
  readonly method: string;
  readonly path: string;
}

export class Paths {
  readonly #served: readonly Served[];

  constructor(routes: readonly Route[], pages: readonly StaticPage[] = []) {
    this.#served = [
      ...routes.flatMap(({ operation: { api, method, path } }) =>
        BASES[api].map((base) => ({ method, path: `${base}${path}` })),
      ),
      ...OIDC_ROUTES.map(({ method, path }) => ({ method, path: `${OIDC_BASE}${path}` })),
      ...[...HEALTH_PATHS, ...pages.map(({ path }) => path)].map((path) => ({ method: 'GET', path })),
    ];
  }

  /** Empty for an unknown path. */
  methodsOf(url: string): string[] {
    const path = pathOf(url);
    return METHODS.filter((method) => this.#served.some((each) => each.method === method && fits(each.path, path)));
  }
}

/** A URL without its query. */
export function pathOf(url: string): string {
  return url.split('?')[0] ?? '';
}

function fits(pattern: string, path: string): boolean {
  const parts = tidy(path).split('/');
  const wanted = tidy(pattern).split('/');
  return parts.length === wanted.length && wanted.every((part, index) => part.startsWith('{') || part === parts[index]);
}

/** Removes doubled slashes and a trailing one. */
export function tidy(path: string): string {
  return path.replaceAll(/\/+/g, '/').replace(/(?<=.)\/$/, '');
}
