// Reads the values of service configurations. The controller has checked their form; an invalid value is rejected with
// the name of its field.

import { ProjectError } from '#lib/errors.ts';
import { isMap } from '#lib/json/is-map.ts';

export type Protocol = 'tcp' | 'udp';

/** The beginning of a variable in a template. */
const APP_DATA = '$tunneler_id.appData[';

/** A service configuration is invalid. */
export class HostConfigError extends ProjectError {
  constructor(message: string) {
    super('HOST_CONFIG', message);
  }
}

export function asRecord(value: unknown, name: string): Record<string, unknown> {
  if (isMap(value)) return value;
  throw new HostConfigError(`${name} must be a map`);
}

export function asList(value: unknown, name: string): unknown[] {
  if (Array.isArray(value) && value.length > 0) return value;
  throw new HostConfigError(`${name} must be a list with at least one entry`);
}

export function readProtocol(value: unknown): Protocol {
  if (value === 'tcp' || value === 'udp') return value;
  throw new HostConfigError(`protocol must be tcp or udp, found ${JSON.stringify(value)}`);
}

export function readProtocols(value: unknown, name: string): Protocol[] {
  return [...new Set(asList(value, name).map(readProtocol))];
}

export function readText(value: unknown, name: string): string {
  if (typeof value === 'string' && value !== '') return value;
  throw new HostConfigError(`${name} must be a string, found ${JSON.stringify(value)}`);
}

/** A template; undefined for other values. reference fact: `$tunneler_id.appData[` without its end is an error. */
export function readTemplate(value: unknown, name: string): string | undefined {
  if (typeof value !== 'string') return undefined;
  const last = value.lastIndexOf(APP_DATA);
  if (last >= 0 && !value.includes(']', last))
    throw new HostConfigError(`${name} has ${APP_DATA} without a closing bracket; write ${APP_DATA}KEY]`);
  return value;
}

/** An integer from 0 to 65535: a port or a cost. */
export function readPort(value: unknown, name: string): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 65_535) return value;
  throw new HostConfigError(`${name} must be an integer from 0 to 65535, found ${JSON.stringify(value)}`);
}

/** Milliseconds that the `dialOptions` of intercept.v1 allow for a circuit; undefined if they name none. */
export function readConnectTimeout({ connectTimeoutSeconds: seconds }: Record<string, unknown>): number | undefined {
  return typeof seconds === 'number' && seconds > 0 ? seconds * 1_000 : undefined;
}
