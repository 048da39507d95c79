// The HTTP proxy that the environment names for a connection, by the rules of Go's http.ProxyFromEnvironment, which the
// reference applies: HTTPS_PROXY names the proxy, NO_PROXY the exceptions; connections to this machine are direct.

import { BlockList, isIP } from 'node:net';
import { domainToASCII } from 'node:url';
import { ProjectError } from '#lib/errors.ts';
import type { HttpProxy } from './dial.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

const DEFAULT_PORT = 80;
const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');

/**
 * Returns undefined for a direct connection to `host`, a name or an IP address. The name of a variable in capitals
 * takes precedence over the one in small letters.
 *
 * @throws ProjectError if the variable is not the address of an HTTP proxy
 */
export function proxyFromEnvironment(host: string, port: number, environment: Environment): HttpProxy | undefined {
  const [name, value] = variable(environment, 'HTTPS_PROXY');
  if (value === '' || isOwnMachine(host)) return undefined;
  const exceptions = variable(environment, 'NO_PROXY')[1].split(',');
  if (exceptions.some((each) => isException(each.trim().toLowerCase(), host.toLowerCase(), port))) return undefined;
  return readProxy(name, value);
}

function variable(environment: Environment, name: string): [name: string, value: string] {
  const given = [name, name.toLowerCase()].find((each) => environment[each]) ?? name;
  return [given, environment[given] ?? ''];
}

function isOwnMachine(host: string): boolean {
  return host === 'localhost' || isMember(LOOPBACK, host);
}

/**
 * `*`, an IP address or a range, a domain with its subdomains, `.domain` for the subdomains alone; all but ranges with
 * a port.
 */
function isException(exception: string, host: string, port: number): boolean {
  if (exception === '') return false;
  if (exception === '*') return true;
  const range = rangeOf(exception);
  if (range) return isMember(range, host);
  const { name, port: wantedPort } = splitPort(exception);
  if (name === '' || (wantedPort !== undefined && wantedPort !== String(port))) return false;
  const address = rangeOf(`${name}/${isIP(name) === 6 ? 128 : 32}`);
  if (address) return isMember(address, host);
  if (isIP(host) !== 0) return false;
  const domain = name.startsWith('*.') ? name.slice(1) : name;
  const ascii = domainToASCII(domain.replace(/^\./, '')) || domain.replace(/^\./, '');
  return host.endsWith(`.${ascii}`) || (!domain.startsWith('.') && host === ascii);
}

/** `10.0.0.0/8` as a list; undefined for any other text. */
function rangeOf(text: string): BlockList | undefined {
  const [, network = '', bits = ''] = /^([^/]+)\/(\d{1,3})$/.exec(text) ?? [];
  const family = isIP(network);
  if (family === 0 || Number(bits) > (family === 6 ? 128 : 32)) return undefined;
  const list = new BlockList();
  list.addSubnet(network, Number(bits), family === 6 ? 'ipv6' : 'ipv4');
  return list;
}

function isMember(list: BlockList, host: string): boolean {
  const family = isIP(host);
  return family !== 0 && list.check(host, family === 6 ? 'ipv6' : 'ipv4');
}

function splitPort(text: string): { name: string; port: string | undefined } {
  const [, bracketed, bracketedPort] = /^\[([^\]]*)\](?::(\d+))?$/.exec(text) ?? [];
  if (bracketed !== undefined) return { name: bracketed, port: bracketedPort };
  const [, name, port] = /^([^:]*):(\d+)$/.exec(text) ?? [];
  return { name: name ?? text, port };
}

/** A value without a scheme is `host:port`. The error omits the value, which may contain a password. */
function readProxy(variableName: string, value: string): HttpProxy {
  const complete = /^[a-z][a-z0-9+.-]*:\/\//i.test(value) ? value : `http://${value}`;
  const url = URL.canParse(complete) ? new URL(complete) : undefined;
  if (url?.protocol !== 'http:' || url.hostname === '') {
    const type = url && url.protocol !== 'http:' ? `a proxy of type ${url.protocol.slice(0, -1)}` : 'no address';
    const remedy = 'set it to http://HOST:PORT, or add the controller to NO_PROXY';
    throw new ProjectError('PROXY', `the environment variable ${variableName} contains ${type}; ${remedy}`);
  }
  return {
    host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: Number(url.port || DEFAULT_PORT),
    ...(url.username !== '' && { username: unescaped(url.username) }),
    ...(url.password !== '' && { password: unescaped(url.password) }),
  };
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // contains a percent sign that is not an escape
  }
}
