// Reads the configuration of a hosted service (config types host.v1, host.v2 and ziti-tunneler-server.v1), and chooses
// the target of each incoming circuit (reference fact: tunnel, sections 3.4 and 3.5).

import { isIP } from 'node:net';
import { describeError } from '#lib/errors.ts';
import { ownValue } from '#lib/json/own-value.ts';
import { hostProblem, splitHostPort } from '#lib/net/address.ts';
import { parseDuration } from '#lib/time/duration.ts';
import { RouteErrorCode } from '#wire/gen/numbers.ts';
import { EgressError } from '../../egress/dial-errors.ts';
import type { AppData } from './app-data.ts';
import {
  asList,
  asRecord,
  HostConfigError,
  type Protocol,
  readPort,
  readProtocol,
  readTemplate,
  readText,
} from './config-values.ts';
import { type CheckConfig, readChecks } from './health/check-config.ts';
import { canonicalAddress, inRange, ipv6Text, isPrefixLength, toBits } from './ip-addresses.ts';
import { ipv4ToText } from './tproxy/ipv4.ts';

export type Precedence = 'default' | 'required' | 'failed';

/**
 * One terminator of a hosted service. Each choice is either fixed, or forwarded from the connection that the dialing
 * side intercepted.
 */
export interface HostConfig {
  readonly protocol: Choice<Protocol>;
  readonly address: Choice<string>;
  readonly port: Choice<number>;
  readonly translations: readonly Translation[];
  /** Source addresses that the dialing side may request; empty for any. */
  readonly sources: readonly string[];
  /** HTTP proxy for connections to TCP services. */
  readonly proxy: HostPort | undefined;
  readonly listen: ListenOptions;
  readonly checks: readonly CheckConfig[];
}

export interface HostPort {
  readonly host: string;
  readonly port: number;
}

export type Choice<T> = { readonly fixed: T } | { readonly allowed: readonly unknown[] };

export interface Translation {
  readonly from: string;
  readonly to: string;
  readonly prefixLength: number;
}

export interface ListenOptions {
  readonly cost: number | undefined;
  readonly precedence: Precedence | undefined;
  readonly identity: string | undefined;
  readonly bindUsingEdgeIdentity: boolean;
  /** Milliseconds. */
  readonly connectTimeout: number;
}

export interface Target {
  readonly protocol: Protocol;
  readonly host: string;
  readonly port: number;
  /** Source address of the connection; port 0 for any. */
  readonly source: HostPort | undefined;
}

const DEFAULT_CONNECT_TIMEOUT = 5_000;
const PORT = /^\d{1,5}$/;

/**
 * The terminators in a service's configurations, of the type with the highest priority; empty if there are none.
 * @throws HostConfigError
 */
export function readHostConfigs(configs: ReadonlyMap<string, unknown>): HostConfig[] {
  const v2 = configs.get('host.v2');
  if (v2 !== undefined)
    return asList(asRecord(v2, 'host.v2').terminators, 'host.v2.terminators').map((each) =>
      readHostConfig(asRecord(each, 'host.v2.terminators')),
    );
  const v1 = configs.get('host.v1');
  if (v1 !== undefined) return [readHostConfig(asRecord(v1, 'host.v1'))];
  const server = configs.get('ziti-tunneler-server.v1');
  return server === undefined ? [] : [readServerConfig(asRecord(server, 'ziti-tunneler-server.v1'))];
}

/** Chooses the target of a circuit. @throws EgressError if the dialing side requests a target that is not allowed */
export function chooseTarget(config: HostConfig, appData: AppData): Target {
  return {
    protocol: chooseProtocol(config, appData),
    host: chooseHost(config, appData),
    port: choosePort(config, appData),
    source: chooseSource(config, appData),
  };
}

/** Whether the dialing side may resolve a name: only if names are forwarded. */
export function isAllowedName({ address }: HostConfig, name: string): boolean {
  return 'allowed' in address && address.allowed.some((allowed) => isAllowedAddress(String(allowed), name));
}

function readHostConfig(data: Record<string, unknown>): HostConfig {
  const options = asRecord(data.listenOptions ?? {}, 'listenOptions');
  return {
    protocol: data.forwardProtocol
      ? { allowed: asList(data.allowedProtocols, 'allowedProtocols') }
      : { fixed: readProtocol(data.protocol) },
    address: data.forwardAddress
      ? { allowed: asList(data.allowedAddresses, 'allowedAddresses') }
      : { fixed: readText(data.address, 'address') },
    port: data.forwardPort
      ? { allowed: asList(data.allowedPortRanges, 'allowedPortRanges') }
      : { fixed: readPort(data.port, 'port') },
    translations: (data.forwardAddressTranslations === undefined
      ? []
      : asList(data.forwardAddressTranslations, 'forwardAddressTranslations')
    ).map(readTranslation),
    sources: (data.allowedSourceAddresses === undefined
      ? []
      : asList(data.allowedSourceAddresses, 'allowedSourceAddresses')
    ).map((entry) => readRange(entry, 'allowedSourceAddresses')),
    proxy: data.proxy === undefined || data.proxy === null ? undefined : readProxy(asRecord(data.proxy, 'proxy')),
    listen: readListenOptions(options),
    checks: readChecks(data),
  };
}

function readServerConfig(data: Record<string, unknown>): HostConfig {
  return {
    protocol: { fixed: data.protocol === undefined || data.protocol === null ? 'tcp' : readProtocol(data.protocol) },
    address: { fixed: readText(data.hostname, 'hostname') },
    port: { fixed: readPort(data.port, 'port') },
    translations: [],
    sources: [],
    proxy: undefined,
    listen: readListenOptions({}),
    checks: readChecks(data),
  };
}

function readListenOptions(options: Record<string, unknown>): ListenOptions {
  const { precedence } = options;
  return {
    cost: options.cost === undefined ? undefined : readPort(options.cost, 'listenOptions.cost'),
    precedence:
      precedence === 'default' || precedence === 'required' || precedence === 'failed' ? precedence : undefined,
    identity: readTemplate(options.identity, 'listenOptions.identity'),
    bindUsingEdgeIdentity: options.bindUsingEdgeIdentity === true,
    connectTimeout: readTimeout(options),
  };
}

function readTimeout(options: Record<string, unknown>): number {
  if (typeof options.connectTimeout === 'string') return parseDuration(options.connectTimeout);
  return typeof options.connectTimeoutSeconds === 'number'
    ? options.connectTimeoutSeconds * 1000
    : DEFAULT_CONNECT_TIMEOUT;
}

function chooseProtocol({ protocol }: HostConfig, appData: AppData): Protocol {
  if ('fixed' in protocol) return protocol.fixed;
  const wanted = wantedText(appData, 'dst_protocol');
  if (!protocol.allowed.includes(wanted)) throw rejection(`protocol '${wanted}' is not in allowed protocols`);
  return wanted === 'udp' ? 'udp' : 'tcp';
}

function chooseHost({ address, translations }: HostConfig, appData: AppData): string {
  if ('fixed' in address) return address.fixed;
  const hostname = ownValue(appData, 'dst_hostname');
  const given = typeof hostname === 'string' && hostname !== '' ? hostname : wantedText(appData, 'dst_ip');
  // `*.domain` compares only the end, and the name may become part of a request to a proxy.
  const problem = hostProblem(given);
  if (problem !== undefined) throw rejection(`address ${problem}`);
  const wanted = canonicalAddress(given);
  if (!address.allowed.some((allowed) => isAllowedAddress(String(allowed), wanted)))
    throw rejection(`address '${wanted}' is not in allowed addresses`);
  return translate(translations, wanted);
}

function choosePort({ port }: HostConfig, appData: AppData): number {
  if ('fixed' in port) return port.fixed;
  const text = wantedText(appData, 'dst_port');
  const wanted = Number(text);
  const isAllowed =
    PORT.test(text) &&
    port.allowed.some((range) => {
      const { low, high } = asRecord(range, 'allowedPortRanges');
      return wanted >= Number(low) && wanted <= Number(high);
    });
  if (!isAllowed) throw new EgressError(RouteErrorCode.PortNotAllowed, `port ${text} is not in allowed port ranges`);
  return wanted;
}

/** `source_addr`: `ip`, `ip:port` or `[ip]:port`. */
function chooseSource({ sources }: HostConfig, appData: AppData): HostPort | undefined {
  const text = ownValue(appData, 'source_addr');
  if (typeof text !== 'string' || text === '') return undefined;
  const source = readSource(text);
  if (!source) throw rejection(`source_addr '${text}' is not an IP address`);
  if (sources.length > 0 && !sources.some((allowed) => isAllowedAddress(allowed, source.host)))
    throw rejection(`source address '${source.host}' is not in allowed source addresses`);
  return source;
}

function readSource(text: string): HostPort | undefined {
  if (isIP(text) !== 0) return { host: canonicalAddress(text), port: 0 };
  try {
    const { host, port } = splitHostPort(text);
    return isIP(host) === 0 ? undefined : { host: canonicalAddress(host), port };
  } catch {
    return undefined; // the caller reports the error
  }
}

/** `*`, `*.domain` (includes the domain), an IP address, a range, or an exact name; names are case-insensitive. */
export function isAllowedAddress(allowed: string, wanted: string): boolean {
  const pattern = canonicalAddress(allowed).toLowerCase();
  const name = canonicalAddress(wanted).toLowerCase();
  if (pattern === '*' || pattern === name) return true;
  if (pattern.startsWith('*.')) return name === pattern.slice(2) || name.endsWith(pattern.slice(1));
  const [network = '', bits] = pattern.split('/');
  if (bits === undefined || isIP(network) === 0 || isIP(name) !== isIP(network)) return false;
  return /^\d+$/.test(bits) && isPrefixLength(Number(bits), isIP(network)) && inRange(network, Number(bits), name);
}

/**
 * Applies the longest prefix that contains the address: network bits of `to`, host bits unchanged. Names, and addresses
 * with a zone, stay.
 */
function translate(translations: readonly Translation[], ip: string): string {
  const family = isIP(ip);
  if (family === 0 || ip.includes('%')) return ip;
  const fitting = translations.filter(
    ({ from, prefixLength }) => isIP(from) === family && inRange(from, prefixLength, ip),
  );
  const best = fitting.sort((a, b) => b.prefixLength - a.prefixLength)[0];
  if (!best) return ip;
  const hostBits = BigInt((family === 4 ? 32 : 128) - best.prefixLength);
  const network = (toBits(best.to) >> hostBits) << hostBits;
  const translated = network | BigInt.asUintN(Number(hostBits), toBits(ip));
  return family === 4 ? ipv4ToText(Number(translated)) : ipv6Text(translated);
}

function readTranslation(entry: unknown): Translation {
  const { from, to, prefixLength } = asRecord(entry, 'forwardAddressTranslations');
  const family = typeof from === 'string' ? isIP(from) : 0;
  if (family === 0 || typeof from !== 'string' || typeof to !== 'string' || isIP(to) !== family)
    throw new HostConfigError('forwardAddressTranslations: from and to must be IP addresses of the same version');
  if (typeof prefixLength !== 'number' || !isPrefixLength(prefixLength, family))
    throw new HostConfigError('forwardAddressTranslations: prefixLength must be a valid prefix length');
  return { from, to, prefixLength };
}

function wantedText(appData: AppData, key: string): string {
  const value = ownValue(appData, key);
  if (value === undefined || value === null || value === '')
    throw rejection(`the dialing side did not send ${key}, which the service forwards`);
  return String(value);
}

function rejection(message: string): EgressError {
  return new EgressError(RouteErrorCode.Generic, message);
}

function readProxy(proxy: Record<string, unknown>): HostPort {
  if (proxy.type !== 'http') throw new HostConfigError(`proxy.type must be http, found ${JSON.stringify(proxy.type)}`);
  try {
    return splitHostPort(readText(proxy.address, 'proxy.address'));
  } catch (error) {
    throw new HostConfigError(`proxy.address: ${describeError(error)}`);
  }
}

function readRange(entry: unknown, name: string): string {
  const [ip = '', bits] = typeof entry === 'string' ? entry.split('/') : [];
  const family = isIP(ip);
  const isRange = bits === undefined || (/^\d+$/.test(bits) && isPrefixLength(Number(bits), family));
  if (family !== 0 && isRange) return String(entry);
  throw new HostConfigError(`${name} must contain IP addresses and ranges, found ${JSON.stringify(entry)}`);
}
