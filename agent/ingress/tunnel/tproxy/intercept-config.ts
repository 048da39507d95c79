// Reads the interception of a service from the config types intercept.v1 and ziti-tunneler-client.v1 (reference fact:
// tunnel, sections 3.2 and 3.5).

import { isIP } from 'node:net';
import { hostProblem } from '#lib/net/address.ts';
import {
  asList,
  asRecord,
  HostConfigError,
  type Protocol,
  readConnectTimeout,
  readPort,
  readProtocols,
  readTemplate,
  readText,
} from '../config-values.ts';
import { type Ipv4Network, parseIpv4Network } from './ipv4.ts';

export interface PortRange {
  readonly first: number;
  readonly last: number;
}

export interface InterceptConfig {
  readonly protocols: readonly Protocol[];
  readonly networks: readonly Ipv4Network[];
  /** Exact names, in lower case. */
  readonly names: readonly string[];
  /** Domains whose subdomains are intercepted, in lower case; empty for every name. */
  readonly wildcards: readonly string[];
  readonly ports: readonly PortRange[];
  /** Callers that are intercepted; empty for all. */
  readonly sources: readonly Ipv4Network[];
  /** Interfaces of an external diverter; empty for all. */
  readonly interfaces: readonly string[];
  /** Templates; empty if not configured. */
  readonly sourceIp: string;
  readonly identity: string;
  /** Milliseconds for a circuit. */
  readonly timeout: number;
  /** Addresses that cannot be intercepted: IPv6, and the range of all addresses. */
  readonly leftOut: readonly string[];
}

const DEFAULT_DIAL_TIME = 5_000;
/** Limit on entries of one list: addresses, ports, sources. */
const MAX_ENTRIES = 5_000;

/** Returns undefined if the service has no such configuration. @throws HostConfigError */
export function readInterceptConfig(configs: ReadonlyMap<string, unknown>): InterceptConfig | undefined {
  const intercept = configs.get('intercept.v1');
  const interfaces = readInterfaces(configs.get('interfaces.v1'));
  if (intercept !== undefined) return { ...readIntercept(asRecord(intercept, 'intercept.v1')), interfaces };
  const client = configs.get('ziti-tunneler-client.v1');
  return client === undefined ? undefined : { ...readClient(asRecord(client, 'ziti-tunneler-client.v1')), interfaces };
}

function readInterfaces(data: unknown): string[] {
  if (data === undefined) return [];
  const { interfaces } = asRecord(data, 'interfaces.v1');
  return boundedList(interfaces, 'interfaces').map((entry) => readText(entry, 'interfaces'));
}

function readIntercept(data: Record<string, unknown>): Omit<InterceptConfig, 'interfaces'> {
  const dial = asRecord(data.dialOptions ?? {}, 'dialOptions');
  return {
    protocols: readProtocols(data.protocols, 'protocols'),
    ...readAddresses(boundedList(data.addresses, 'addresses').map((entry) => readText(entry, 'addresses'))),
    ports: boundedList(data.portRanges, 'portRanges').map(readPortRange),
    sources:
      data.allowedSourceAddresses === undefined
        ? []
        : boundedList(data.allowedSourceAddresses, 'allowedSourceAddresses').map(readSource),
    sourceIp: readTemplate(data.sourceIp, 'sourceIp') ?? '',
    identity: readTemplate(dial.identity, 'dialOptions.identity') ?? '',
    timeout: readConnectTimeout(dial) ?? DEFAULT_DIAL_TIME,
  };
}

function readClient(data: Record<string, unknown>): Omit<InterceptConfig, 'interfaces'> {
  const port = readPort(data.port, 'port');
  return {
    protocols: ['tcp', 'udp'],
    ...readAddresses([readText(data.hostname, 'hostname')]),
    ports: [{ first: port, last: port }],
    sources: [],
    sourceIp: '',
    identity: '',
    timeout: DEFAULT_DIAL_TIME,
  };
}

function readAddresses(
  addresses: readonly string[],
): Pick<InterceptConfig, 'networks' | 'names' | 'wildcards' | 'leftOut'> {
  const networks: Ipv4Network[] = [];
  const names: string[] = [];
  const wildcards: string[] = [];
  const leftOut: string[] = [];
  for (const address of addresses) {
    const network = parseIpv4Network(address);
    if (network && network.bits > 0) networks.push(network);
    else if (network || isIP(address.split('/')[0] ?? '') !== 0) leftOut.push(address);
    else if (address === '*') wildcards.push('');
    else if (address.startsWith('*.')) wildcards.push(readName(address.slice(2)));
    else names.push(readName(address));
  }
  return { networks, names, wildcards, leftOut };
}

function readName(text: string): string {
  const name = text.toLowerCase().replace(/\.$/, '');
  const problem = hostProblem(name);
  if (problem !== undefined) throw new HostConfigError(`addresses: ${problem}`);
  return name;
}

function readPortRange(entry: unknown): PortRange {
  const { low, high } = asRecord(entry, 'portRanges');
  const range = { first: readPort(low, 'portRanges.low'), last: readPort(high, 'portRanges.high') };
  if (range.first > range.last) throw new HostConfigError(`portRanges: ${range.first} is above ${range.last}`);
  return range;
}

function readSource(entry: unknown): Ipv4Network {
  const network = parseIpv4Network(readText(entry, 'allowedSourceAddresses'));
  if (network) return network;
  throw new HostConfigError(`allowedSourceAddresses must contain IPv4 addresses and ranges, found ${String(entry)}`);
}

function boundedList(value: unknown, name: string): unknown[] {
  const list = asList(value, name);
  if (list.length > MAX_ENTRIES) throw new HostConfigError(`${name} has more than ${MAX_ENTRIES} entries`);
  return list;
}
