// The variables that configure the container image of the reference's router (reference fact: dist/docker-images and
// dist/dist-packages). An image, a compose file or a chart sets them; an empty variable has its default.

import { join } from 'node:path';
import { ProjectError } from '#lib/errors.ts';
import { formatAddress, MAX_PORT } from '#lib/net/address.ts';
import { hostForOthers } from '#lib/options.ts';
import type { Environment } from '../config/text/environment.ts';
import { type ConfigArguments, readConfigArguments, TUNNEL_MODES, type TunnelMode } from './config-arguments.ts';

/** A variable has a value that the router cannot use; the message has one line for each. */
export class BootstrapError extends ProjectError {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super('BOOTSTRAP', message, options);
  }
}

/** `force` replaces what exists, `off` leaves the step to the operator. */
export type Step = 'true' | 'force' | 'off';

/** Decides which steps run before the router. */
export interface BootstrapSettings {
  readonly isEnabled: boolean;
  /** Folder of the state, and the working folder of the router. */
  readonly home: string;
  readonly config: Step;
  readonly enrollment: Step;
  /** Renew the certificates at each start. */
  readonly renewsCertificates: boolean;
  /** Token or path of its file. */
  readonly token: string | undefined;
  /** The file whose existence proves an enrollment. */
  readonly certificate: string;
  readonly isDebugging: boolean;
}

/** Content of a new configuration. */
export interface ConfigSettings {
  readonly type: 'edge' | 'fabric';
  readonly mode: TunnelMode;
  readonly advertised: string;
  readonly bindAddress: string;
  readonly port: number;
  /** `tls:host:port`; undefined: the controllers of the token. */
  readonly controller: string | undefined;
  readonly identity: IdentityFiles;
  readonly endpointsFile: string;
  readonly resolver: string;
  readonly dnsRange: string;
  readonly lanInterface: string | undefined;
  readonly acceptsLinks: boolean;
  readonly isWebSocket: boolean;
  readonly csr: CsrSettings;
}

export interface IdentityFiles {
  readonly cert: string;
  readonly serverCert: string;
  readonly key: string;
  readonly ca: string;
  readonly alternative: { readonly cert: string; readonly key: string } | undefined;
}

export interface CsrSettings {
  /** Only the parts that a variable sets, by their key in the configuration. */
  readonly subject: Readonly<Record<string, string>>;
  readonly dns: readonly string[];
  readonly ip: readonly string[];
}

const DEFAULT_NAME = 'router';
const DEFAULT_PORT = '3022';
const DEFAULT_CONTROLLER_PORT = '1280';
const SUBJECT: Readonly<Record<string, string>> = {
  ZITI_ROUTER_CSR_C: 'country',
  ZITI_ROUTER_CSR_ST: 'province',
  ZITI_ROUTER_CSR_L: 'locality',
  ZITI_ROUTER_CSR_O: 'organization',
  ZITI_ROUTER_CSR_OU: 'organizationalUnit',
};
const PORT = /^[1-9]\d{0,4}$/;
const IPV4 = /^\d{1,3}(\.\d{1,3}){3}$/;

/**
 * Reads the variables that every start needs. @param folder The working folder of the process. @throws BootstrapError
 */
export function readSettings(environment: Environment, folder: string): BootstrapSettings {
  const get = reader(environment);
  const isEnabled = get('ZITI_BOOTSTRAP') === 'true';
  const problems: string[] = [];
  const step = (name: string): Step => {
    const value = get(name) ?? 'true';
    if (value === 'true' || value === 'force') return value;
    if (value !== 'false' && isEnabled) problems.push(`${name} is "${value}"; set it to true, force or false`);
    return 'off';
  };
  const settings = {
    isEnabled,
    home: get('ZITI_HOME') ?? folder,
    config: step('ZITI_BOOTSTRAP_CONFIG'),
    enrollment: step('ZITI_BOOTSTRAP_ENROLLMENT'),
    renewsCertificates: get('ZITI_AUTO_RENEW_CERTS') === 'true',
    token: get('ZITI_ENROLL_TOKEN'),
    certificate: get('ZITI_ROUTER_IDENTITY_CERT') ?? `${get('ZITI_ROUTER_NAME') ?? DEFAULT_NAME}.cert`,
    isDebugging: !['', '0', 'false'].includes(get('DEBUG') ?? ''),
  };
  if (problems.length > 0) throw new BootstrapError(problems.join('\n'));
  return settings;
}

/**
 * Reads the variables that a new configuration needs. @param hostName Name of this machine, which the certificates
 * contain. @throws BootstrapError with one line for each invalid variable
 */
export function readConfigSettings(environment: Environment, home: string, hostName: string): ConfigSettings {
  const get = reader(environment);
  const problems: string[] = [];
  const given = configArguments(get('ZITI_BOOTSTRAP_CONFIG_ARGS'), problems);
  for (const [name, value] of Object.entries(environment))
    if (name.startsWith('ZITI_') && name !== 'ZITI_ENROLL_TOKEN' && value?.includes('$'))
      problems.push(`${name} contains "$", which the configuration file would replace by a variable; remove it`);

  /** An address of IPv6 may be in brackets. */
  const host = (name: string) => get(name)?.replace(/^\[(.*)\]$/, '$1');
  const port = (name: string, usual: string): number => {
    const text = get(name) ?? usual;
    if (!PORT.test(text) || Number(text) > MAX_PORT)
      problems.push(`${name} is "${text}"; set it to a port from 1 to ${MAX_PORT}`);
    return Number(text);
  };
  const choice = <T extends string>(name: string, value: string, choices: readonly T[]): T => {
    const found = choices.find((each) => each === value);
    if (found === undefined) problems.push(`${name} is "${value}"; set it to ${choices.join(', ')}`);
    return found ?? (choices[0] as T);
  };

  const type = choice('ZITI_ROUTER_TYPE', get('ZITI_ROUTER_TYPE') ?? 'edge', ['edge', 'fabric']);
  const mode = choice('ZITI_ROUTER_MODE', given.mode ?? get('ZITI_ROUTER_MODE') ?? 'host', TUNNEL_MODES);
  const advertised = get('ZITI_ROUTER_ADVERTISED_ADDRESS') ?? '';
  if (advertised === '')
    problems.push('ZITI_ROUTER_ADVERTISED_ADDRESS is not set; set it to the host name or address of this router');
  else {
    const problem = hostForOthers('router.example')(advertised);
    if (problem !== undefined) problems.push(`ZITI_ROUTER_ADVERTISED_ADDRESS is "${advertised}": ${problem}`);
  }
  const lanInterface = given.lanInterface ?? get('ZITI_ROUTER_LAN_INTERFACE');
  if (type === 'fabric' && (lanInterface !== undefined || given.isWebSocket || given.isPrivate))
    problems.push(
      'ZITI_ROUTER_TYPE is fabric, but ZITI_ROUTER_LAN_INTERFACE or ZITI_BOOTSTRAP_CONFIG_ARGS have options of an edge router; remove them',
    );
  const controllerHost = host('ZITI_CTRL_ADVERTISED_ADDRESS');
  const controllerPort = port('ZITI_CTRL_ADVERTISED_PORT', DEFAULT_CONTROLLER_PORT);
  const settings: ConfigSettings = {
    type,
    mode,
    advertised,
    bindAddress: host('ZITI_ROUTER_BIND_ADDRESS') ?? '0.0.0.0',
    port: port('ZITI_ROUTER_PORT', DEFAULT_PORT),
    controller:
      controllerHost === undefined
        ? undefined
        : formatAddress({ type: 'tls', host: controllerHost, port: controllerPort }),
    identity: identityFiles(get, home),
    endpointsFile: join(home, 'endpoints.yml'),
    resolver: get('ZITI_ROUTER_TPROXY_RESOLVER') ?? 'udp://127.0.0.1:53',
    dnsRange: get('ZITI_ROUTER_DNS_IP_RANGE') ?? '100.64.0.1/10',
    lanInterface,
    acceptsLinks: !given.isPrivate,
    isWebSocket: given.isWebSocket,
    csr: csrSettings(get, advertised, get('ZITI_NETWORK_NAME') ?? hostName),
  };
  if (problems.length > 0) throw new BootstrapError(problems.join('\n'));
  return settings;
}

type Read = (name: string) => string | undefined;

function reader(environment: Environment): Read {
  return (name) => environment[name]?.trim() || undefined;
}

function configArguments(text: string | undefined, problems: string[]): ConfigArguments {
  try {
    return readConfigArguments(text ?? '');
  } catch (error) {
    problems.push(`ZITI_BOOTSTRAP_CONFIG_ARGS: ${(error as Error).message}`);
    return { mode: undefined, lanInterface: undefined, isPrivate: false, isWebSocket: false };
  }
}

function identityFiles(get: Read, home: string): IdentityFiles {
  const name = get('ZITI_ROUTER_NAME') ?? DEFAULT_NAME;
  const cert = get('ZITI_PKI_ALT_SERVER_CERT');
  const key = get('ZITI_PKI_ALT_SERVER_KEY');
  return {
    cert: get('ZITI_ROUTER_IDENTITY_CERT') ?? join(home, `${name}.cert`),
    serverCert: get('ZITI_ROUTER_IDENTITY_SERVER_CERT') ?? join(home, `${name}.server.chain.cert`),
    key: get('ZITI_ROUTER_IDENTITY_KEY') ?? join(home, `${name}.key`),
    ca: get('ZITI_ROUTER_IDENTITY_CA') ?? join(home, `${name}.cas`),
    alternative: cert === undefined || key === undefined ? undefined : { cert, key },
  };
}

/** The reference leaves an advertised IP address out of the names; no client could verify the certificate then. */
function csrSettings(get: Read, advertised: string, hostName: string): CsrSettings {
  const names = ['localhost', get('ZITI_ROUTER_CSR_SANS_DNS') ?? advertised, advertised, hostName];
  const addresses = ['127.0.0.1', '::1', advertised, get('ZITI_ROUTER_IP_OVERRIDE')];
  const isAddress = (each: string) => IPV4.test(each) || each.includes(':');
  const isGiven = (each: string | undefined): each is string => each !== undefined && each !== '';
  const subject = Object.entries(SUBJECT).flatMap(([variable, key]) => {
    const value = get(variable);
    return value === undefined ? [] : [[key, value]];
  });
  return {
    subject: Object.fromEntries(subject) as Record<string, string>,
    dns: [...new Set(names.filter(isGiven).filter((each) => !isAddress(each)))],
    ip: [...new Set(addresses.filter(isGiven).filter(isAddress))],
  };
}
