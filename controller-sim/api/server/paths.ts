// Methods of each path of the simulator: for 405 instead of 404, and for the header `allow`.

import { BASES } from '#schemas/api/bases.ts';
import { fitsTemplate } from '#schemas/api/path-template.ts';
import { BASE as OIDC_BASE } from '../oidc/context.ts';
import { OIDC_ROUTES } from '../oidc/routes.ts';
import { HEALTH_PATHS } from './health.ts';
import { METRICS_PATH } from './metrics.ts';
import type { Route } from './routes.ts';
import type { StaticPage } from './static-pages.ts';

export const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

/** A path, optionally with `{id}` segments, and one of its methods. */
interface Served {
  readonly method: string;
  readonly path: string;
}

export class Paths {
  /** By the number of their segments: a long path has few patterns, or none. */
  readonly #served = new Map<number, { readonly method: string; readonly segments: readonly string[] }[]>();

  constructor(routes: readonly Route[], pages: readonly StaticPage[] = []) {
    const served: Served[] = [
      ...routes.flatMap(({ operation: { api, method, path } }) =>
        BASES[api].map((base) => ({ method, path: `${base}${path}` })),
      ),
      ...OIDC_ROUTES.map(({ method, path }) => ({ method, path: `${OIDC_BASE}${path}` })),
      ...[...HEALTH_PATHS, METRICS_PATH, ...pages.map(({ path }) => path)].map((path) => ({ method: 'GET', path })),
    ];
    for (const { method, path } of served) {
      const segments = tidy(path).split('/');
      const known = this.#served.get(segments.length);
      if (known) known.push({ method, segments });
      else this.#served.set(segments.length, [{ method, segments }]);
    }
  }

  /** Empty for an unknown path. */
  methodsOf(url: string): string[] {
    const segments = tidy(pathOf(url)).split('/');
    const fitting = (this.#served.get(segments.length) ?? []).filter((each) => fitsTemplate(each.segments, segments));
    return METHODS.filter((method) => fitting.some((each) => each.method === method));
  }
}

/** A URL without its query. */
export function pathOf(url: string): string {
  return url.split('?')[0] ?? '';
}

/** Removes doubled slashes and a trailing one. */
export function tidy(path: string): string {
  return path.replaceAll(/\/+/g, '/').replace(/(?<=.)\/$/, '');
}
