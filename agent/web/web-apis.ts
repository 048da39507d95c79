// Answers of the APIs health-checks and metrics, without sockets. A server whose only API is health-checks answers
// every path with it, as the reference does, except `/metrics`: a metrics collector must not mistake health for
// metrics. `/livez` and `/readyz` answer with a status for probes.

import type { Clock } from '#lib/time/clock.ts';
import type { Health } from '../health/health.ts';
import type { PrometheusPage } from '../metrics/prometheus.ts';
import { RecentAnswers, type ReusedBody } from './recent-answers.ts';

export interface WebApiComponents {
  clock: Clock;
  health: Health;
  /** Undefined if no server has the metrics API. */
  metrics: Pick<PrometheusPage, 'contentType' | 'render'> | undefined;
}

export interface WebAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Compressed forms of the body; undefined for errors, which are sent as they are. */
  readonly reused?: ReusedBody;
}

const METRICS = '/metrics';
/** The APIs are read-only. */
const METHODS = ['GET', 'HEAD'];
const ALLOW = { allow: [...METHODS, 'OPTIONS'].join(', ') };

export class WebApis {
  readonly #components: WebApiComponents;
  readonly #bindings: readonly string[];
  readonly #recent: RecentAnswers;

  /** @param bindings Names of the server's APIs. */
  constructor(components: WebApiComponents, bindings: readonly string[]) {
    this.#components = components;
    this.#bindings = bindings;
    this.#recent = new RecentAnswers(components.clock);
  }

  /** @param target The target of the request: a path or a URL. */
  async answer(method: string, target: string): Promise<WebAnswer> {
    if (method === 'OPTIONS') return { status: 204, headers: ALLOW, body: '' };
    if (!METHODS.includes(method))
      return rejection(405, 'METHOD_NOT_ALLOWED', `${method} is not allowed here; use GET`, ALLOW);
    const url = URL.parse(target, 'https://router');
    if (!url) return rejection(400, 'BAD_REQUEST', 'the request target is not a valid path');
    return this.#show(url);
  }

  async #show(url: URL): Promise<WebAnswer> {
    const { metrics } = this.#components;
    const hasHealth = this.#bindings.includes('health-checks');
    const hasMetrics = this.#bindings.includes('metrics');
    const isShort = url.searchParams.get('type') === 'short';
    if (metrics && hasMetrics && url.pathname === METRICS) {
      const reused = await this.#recent.get(METRICS, () => metrics.render());
      return { status: 200, headers: { 'content-type': metrics.contentType }, body: reused.text, reused };
    }
    // A router that answers is alive; it is ready when it can carry new traffic.
    if (hasHealth && url.pathname === '/readyz') return this.#checks(isShort, 503);
    const isHealth = this.#bindings.length === 1 ? url.pathname !== METRICS : url.pathname.startsWith('/health-checks');
    if (hasHealth && (isHealth || url.pathname === '/livez')) return this.#checks(isShort);
    const paths = [...(hasHealth ? ['/health-checks', '/livez', '/readyz'] : []), ...(hasMetrics ? [METRICS] : [])];
    return rejection(404, 'NOT_FOUND', `path ${url.pathname} not found; use ${paths.join(', ')}`);
  }

  /** @param failing The status while the router is not ready. The status is always current, unlike the details. */
  async #checks(short: boolean, failing = 200): Promise<WebAnswer> {
    const { health } = this.#components;
    const { ready } = health;
    const reused = await this.#recent.get(`health ${short} ${ready}`, () => health.payload({ short }));
    return { ...json(ready ? 200 : failing, reused.text), reused };
  }
}

export function rejection(
  status: number,
  code: string,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): WebAnswer {
  return json(status, `${JSON.stringify({ error: { code, message }, meta: {} })}\n`, headers);
}

function json(status: number, body: string, headers: Readonly<Record<string, string>> = {}): WebAnswer {
  return { status, headers: { 'content-type': 'application/json', ...headers }, body };
}
