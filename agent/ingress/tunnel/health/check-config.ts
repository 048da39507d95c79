// Reads the health checks of a hosted service from its configuration: probes, intervals and actions (reference fact:
// tunnel, section 3.5).

import { unescape as decodePercent } from 'node:querystring';
import { describeError } from '#lib/errors.ts';
import { splitHostPort } from '#lib/net/address.ts';
import { parseDuration } from '#lib/time/duration.ts';
import { MAX_COST } from '#model/terminator.ts';
import { asRecord, HostConfigError, readText } from '../config-values.ts';

export interface CheckConfig {
  /** For logs and inspection. */
  readonly name: string;
  readonly probe: PortProbe | HttpProbe;
  /** Milliseconds. */
  readonly interval: number;
  /** A shorter one that the configuration asks for; undefined if it asks for `interval`. */
  readonly tooShort: number | undefined;
  readonly timeout: number;
  readonly actions: readonly ActionConfig[];
}

export interface PortProbe {
  readonly kind: 'port';
  readonly host: string;
  readonly port: number;
}

export interface HttpProbe {
  readonly kind: 'http';
  /** Without the user and password, which must not appear in logs and inspections. */
  readonly url: string;
  /** The header `authorization`, if the configured URL contains a user. */
  readonly authorization: string | undefined;
  readonly method: string;
  readonly body: string | undefined;
  readonly expectStatus: number;
  /** Text that the answer must contain. */
  readonly expectInBody: string | undefined;
}

export interface ActionConfig {
  readonly trigger: 'fail' | 'pass' | 'change';
  readonly action: Action;
  /** Consecutive results before the action takes effect. */
  readonly consecutiveEvents: number;
  /** Milliseconds for which the results must have been the same. */
  readonly duration: number;
}

export type Action =
  | { readonly kind: 'mark healthy' | 'mark unhealthy' | 'send event' }
  | { readonly kind: 'increase cost' | 'decrease cost'; readonly by: number };

/** Limits for one service: checks, and actions of each check. */
const MAX_CHECKS = 50;
const MAX_ACTIONS = 20;
/** Milliseconds; a shorter interval would put load on the service. */
const MIN_INTERVAL_MS = 100;
/**
 * Milliseconds in place of the timeout 0. The reference has the same one for HTTP, and for ports the one of the system,
 * which is longer.
 */
const WITHOUT_TIMEOUT = { http: 1_000, port: 60_000 };
/** The user and password in a URL. */
const CREDENTIALS = /\/\/[^/?#]*@/;

/** The checks of a host configuration, port checks first. @throws HostConfigError */
export function readChecks(data: Readonly<Record<string, unknown>>): CheckConfig[] {
  const checks = [
    ...entries(data.portChecks, 'portChecks').map((check) => readCheck(check, 'portChecks', readPortProbe(check))),
    ...entries(data.httpChecks, 'httpChecks').map((check) => readCheck(check, 'httpChecks', readHttpProbe(check))),
  ];
  if (checks.length > MAX_CHECKS)
    throw new HostConfigError(`a service may have at most ${MAX_CHECKS} health checks, found ${checks.length}`);
  return checks;
}

function entries(list: unknown, name: string): Record<string, unknown>[] {
  if (list === undefined || list === null) return [];
  if (!Array.isArray(list)) throw new HostConfigError(`${name} must be a list`);
  return list.map((entry) => asRecord(entry, name));
}

function readCheck(check: Record<string, unknown>, list: string, probe: CheckConfig['probe']): CheckConfig {
  const actions = entries(check.actions, `${list}.actions`);
  if (actions.length > MAX_ACTIONS)
    throw new HostConfigError(`a health check may have at most ${MAX_ACTIONS} actions, found ${actions.length}`);
  const interval = readDuration(check.interval, `${list}.interval`);
  if (interval <= 0)
    throw new HostConfigError(`${list}.interval must be greater than 0, found ${JSON.stringify(check.interval)}`);
  const timeout = readDuration(check.timeout, `${list}.timeout`);
  return {
    name: probe.kind === 'port' ? `port ${check.address}` : `${probe.method} ${probe.url}`,
    probe,
    interval: Math.max(MIN_INTERVAL_MS, interval),
    tooShort: interval < MIN_INTERVAL_MS ? interval : undefined,
    timeout: timeout > 0 ? timeout : WITHOUT_TIMEOUT[probe.kind],
    actions: actions.map(readAction),
  };
}

function readPortProbe({ address }: Record<string, unknown>): PortProbe {
  try {
    return { kind: 'port', ...splitHostPort(readText(address, 'portChecks.address')) };
  } catch (error) {
    throw new HostConfigError(`portChecks.address: ${describeError(error)}`);
  }
}

function readHttpProbe(check: Record<string, unknown>): HttpProbe {
  const given = readText(check.url, 'httpChecks.url');
  const url = given.replace(CREDENTIALS, '//');
  const parsed = URL.parse(given);
  if (!parsed || !/^https?:$/.test(parsed.protocol))
    throw new HostConfigError(`httpChecks.url must be an http or https URL, found ${JSON.stringify(url)}`);
  const { method, body, expectStatus, expectInBody } = check;
  return {
    kind: 'http',
    url,
    authorization: basicAuthorization(parsed),
    method: typeof method === 'string' && method !== '' ? method : 'GET',
    body: typeof body === 'string' && body !== '' ? body : undefined,
    expectStatus: typeof expectStatus === 'number' && expectStatus !== 0 ? expectStatus : 200,
    expectInBody: typeof expectInBody === 'string' && expectInBody !== '' ? expectInBody : undefined,
  };
}

function basicAuthorization({ username, password }: URL): string | undefined {
  if (username === '' && password === '') return undefined;
  const credentials = `${decodePercent(username)}:${decodePercent(password)}`;
  return `Basic ${Buffer.from(credentials).toString('base64')}`;
}

function readAction(action: Record<string, unknown>): ActionConfig {
  const { trigger, consecutiveEvents, duration } = action;
  if (trigger !== 'fail' && trigger !== 'pass' && trigger !== 'change')
    throw new HostConfigError(`actions.trigger must be fail, pass or change, found ${JSON.stringify(trigger)}`);
  return {
    trigger,
    action: readActionText(readText(action.action, 'actions.action')),
    consecutiveEvents: typeof consecutiveEvents === 'number' ? consecutiveEvents : 0,
    duration: duration === undefined || duration === null ? 0 : readDuration(duration, 'actions.duration'),
  };
}

function readActionText(text: string): Action {
  if (text === 'mark healthy' || text === 'mark unhealthy' || text === 'send event') return { kind: text };
  const [, kind, digits] = /^(increase cost|decrease cost) (\d+)$/.exec(text) ?? [];
  const by = Number(digits);
  if (kind === undefined || by < 1 || by > MAX_COST)
    throw new HostConfigError(
      `actions.action must be "mark healthy", "mark unhealthy", "send event", or "increase cost" or "decrease cost" with 1 to ${MAX_COST}, found ${JSON.stringify(text)}`,
    );
  return { kind: kind as 'increase cost' | 'decrease cost', by };
}

/** Milliseconds. */
function readDuration(value: unknown, name: string): number {
  try {
    return parseDuration(readText(value, name));
  } catch (error) {
    throw new HostConfigError(`${name}: ${describeError(error)}`);
  }
}
