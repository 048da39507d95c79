// Reads the values of service configurations. Their forms were checked by the controller; what does not fit all the same is
// refused with the name of the field.

import { ProjectError } from '#lib/errors.ts';

export type Protocol = 'tcp' | 'udp';

/** A service configuration that cannot be used. */
export class HostConfigError extends ProjectError {
  constructor(message: string) {
    super('HOST_CONFIG', message);
  }
}

export function asRecord(value: unknown, name: string): Record<string, unknown> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
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
  throw new HostConfigError(`${name} must be a text, found ${JSON.stringify(value)}`);
}

/** A whole number from 0 to 65535: a port, a cost. */
export function readPort(value: unknown, name: string): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 65_535) return value;
  throw new HostConfigError(`${name} must be a whole number up to 65535, found ${JSON.stringify(value)}`);
}
