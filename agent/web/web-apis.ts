// Answers of the APIs health-checks and metrics, without sockets. A server whose only API is health-checks answers
// every path with it, as the reference does, except `/metrics`: a metrics collector must not mistake health for
// metrics. `/livez` and `/readyz` answer with a status for probes.

import type { Health } from '../health/health.ts';
import type { PrometheusPage } from '../metrics/prometheus.ts';

export interface WebApiComponents {
  health: Health;
  /** Undefined if no server has the metrics API. */
  metrics: PrometheusPage | undefined;
}

export interface WebAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const METRICS = '/metrics';
/** The APIs are read-only. */
const METHODS = ['GET', 'HEAD'];
const ALLOW = { allow: [...METHODS, 'OPTIONS'].join(', ') };

export class WebApis {
  readonly #components: WebApiComponents;
  readonly #bindings: readonly string[];

  /** @param bindings Names of the server's APIs. */
  constructor(components: WebApiComponents, bindings: readonly string[]) {
    this.#components = components;
    this.#bindings = bindings;
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
    const { health, metrics } = this.#components;
    const hasHealth = this.#bindings.includes('health-checks');
    const hasMetrics = this.#bindings.includes('metrics');
    const checks = (status: number) =>
      json(status, health.payload({ short: url.searchParams.get('type') === 'short' }));
    if (metrics && hasMetrics && url.pathname === METRICS)
      return { status: 200, headers: { 'content-type': metrics.contentType }, body: await metrics.render() };
    // A router that answers is alive; it is ready when it can carry new traffic.
    if (hasHealth && url.pathname === '/livez') return checks(200);
    if (hasHealth && url.pathname === '/readyz') return checks(health.ready ? 200 : 503);
    const isHealth = this.#bindings.length === 1 ? url.pathname !== METRICS : url.pathname.startsWith('/health-checks');
    if (hasHealth && isHealth) return checks(200);
    const paths = [...(hasHealth ? ['/health-checks', '/livez', '/readyz'] : []), ...(hasMetrics ? [METRICS] : [])];
    return rejection(404, 'NOT_FOUND', `path ${url.pathname} not found; use ${paths.join(', ')}`);
  }
}

function rejection(
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
