// The routers of a test network: real ones, each with a folder of its own. Each listens for links, SDKs and proxied
// services on ports that the system chooses.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ProjectError, TimeoutError } from '#lib/errors.ts';
import type { Log } from '#lib/log/log.ts';
import type { Random } from '#lib/random.ts';
import type { Clock } from '#lib/time/clock.ts';
import { findingText } from '../agent/config/finding.ts';
import { loadRouterConfig } from '../agent/config/load.ts';
import { type RouterFile, routerFileText } from '../agent/config/router-file.ts';
import { enrollRouter } from '../agent/enroll/enroll.ts';
import { Router } from '../agent/router.ts';
import type { Lab } from '../controller-sim/lab/lab.ts';
import type { DialPlace, LabRouters } from '../controller-sim/lab/network/services.ts';
import type { NetworkRouter } from './interface.ts';

/** Milliseconds until a network that is not complete is an error. */
const PATIENCE = 15_000;
/** Milliseconds between two looks. */
const INTERVAL = 5;
const HOST = '127.0.0.1';

export interface RouterComponents {
  readonly clock: Clock;
  readonly log: Log;
  readonly random: Random;
  /** `tls:host:port` of the controller. */
  readonly controlAddress: string;
  /** For the files of the routers. */
  readonly folder: string;
}

/** Enrolls a router with its one-time token and starts it. Rejects with EnrollmentError and ListenError. */
export async function startNetworkRouter(
  components: RouterComponents,
  name: string,
  token: string,
): Promise<NetworkRouter> {
  const { clock, log, random } = components;
  const configFile = writeConfig(components, name);
  const before = loaded(configFile, { beforeEnrollment: true });
  const { routerId: id } = await enrollRouter({ config: before, jwt: token, keyAlgorithm: 'EC', clock, log });
  const router = await Router.start({ config: loaded(configFile), log: log.child({ router: name }), clock, random });
  const [edgeAddress = { host: HOST, port: 0 }] = router.describe().edgeListeners;
  return { id, name, configFile, edgeAddress, router };
}

function writeConfig({ controlAddress, folder }: RouterComponents, name: string): string {
  const own = join(folder, name);
  mkdirSync(own, { recursive: true });
  const file = (ending: string) => join(own, `router.${ending}`);
  const free = `tls:${HOST}:0`;
  const healthyDialBackoff = { minRetryInterval: '200ms', maxRetryInterval: '1s' };
  const config: RouterFile = {
    v: 3,
    identity: { cert: file('cert'), server_cert: file('server.cert'), key: file('key'), ca: file('cas') },
    ctrl: { endpoint: controlAddress },
    csr: { sans: { dns: ['localhost'], ip: [HOST] } },
    edge: {},
    link: {
      listeners: [{ binding: 'transport', bind: free, advertise: free }],
      dialers: [{ binding: 'transport', healthyDialBackoff }],
    },
    listeners: [
      { binding: 'edge', address: free, options: { advertise: `${HOST}:0` } },
      { binding: 'tunnel', options: { mode: 'proxy', services: [] } },
    ],
  };
  const configFile = join(own, 'router.yml');
  writeFileSync(configFile, routerFileText(config), { mode: 0o600 });
  return configFile;
}

function loaded(file: string, options: { beforeEnrollment?: boolean } = {}) {
  const { config, findings } = loadRouterConfig(file, options);
  if (config) return config;
  throw new ProjectError('CONFIGURATION', findings.map((each) => findingText(file, each)).join('\n'));
}

/** @throws ProjectError for an unknown name */
export function routerNamed(routers: readonly NetworkRouter[], name: string): NetworkRouter {
  const found = routers.find((router) => router.name === name);
  if (found) return found;
  const names = routers.map((router) => router.name).join(', ');
  throw new ProjectError('UNKNOWN_ROUTER', `there is no router ${name}; known are ${names}`);
}

/** Resolves when each router has a link to each other one. Rejects with TimeoutError. */
export async function whenLinked(routers: readonly NetworkRouter[], clock: Clock): Promise<void> {
  const ids = routers.map(({ id }) => id);
  const missing = () =>
    routers.flatMap(({ id, name, router }) => {
      const peers = new Set(router.describe().links.map(({ peerId }) => peerId));
      return ids.every((each) => each === id || peers.has(each)) ? [] : [name];
    });
  await until(
    clock,
    () => missing().length === 0,
    () => `links of ${missing().join(', ')}`,
  );
}

/**
 * The routers with the addresses that the controller tells SDKs, once it knows all of them. Rejects with TimeoutError.
 */
export async function withEdgeProxies(
  routers: readonly NetworkRouter[],
  proxies: Pick<Lab['proxies'], 'list'>,
  clock: Clock,
): Promise<NetworkRouter[]> {
  const proxyOf = ({ name }: NetworkRouter) =>
    proxies.list().find((proxy) => proxy.name === `sdk:${name}` && proxy.to !== '');
  await until(
    clock,
    () => routers.every((router) => proxyOf(router) !== undefined),
    () => 'the addresses of the routers for SDKs',
  );
  return routers.map((router) => {
    const { host, port } = proxyOf(router) ?? router.edgeAddress;
    return { ...router, edgeAddress: { host, port } };
  });
}

/** Opens a proxy port for each service, on another router than its host if there is one; counts bytes of circuits. */
export class ServicePorts implements LabRouters {
  readonly #routers: readonly NetworkRouter[];
  readonly #clock: Clock;
  readonly #open = new Map<string, Promise<DialPlace>>();

  constructor(routers: readonly NetworkRouter[], clock: Clock) {
    this.#routers = routers;
    this.#clock = clock;
  }

  async open(service: string, host: string): Promise<DialPlace> {
    const hosting = this.#routers.find(({ name }) => name === host);
    const place = await this.at(service, (this.#routers.find(({ name }) => name !== host) ?? hosting)?.name ?? '');
    if (hosting)
      await until(
        this.#clock,
        () => hosts(hosting, service),
        () => `${host} to host ${service}`,
      );
    return place;
  }

  carried(): Map<string, number> {
    return new Map(this.#routers.flatMap(({ router }) => [...router.circuitBytes()]));
  }

  /** The port of a service at a router. Rejects with ProjectError for an unknown router. */
  async at(service: string, from: string): Promise<DialPlace> {
    const { router } = routerNamed(this.#routers, from);
    const key = JSON.stringify([service, from]);
    const open = this.#open.get(key) ?? router.openProxy(service).then((port): DialPlace => ({ host: HOST, port }));
    this.#open.set(key, open);
    return open;
  }
}

function hosts({ router }: NetworkRouter, service: string): boolean {
  return router.describe().terminators.some((each) => each.serviceName === service && each.state === 'established');
}

async function until(clock: Clock, isMet: () => boolean, what: () => string): Promise<void> {
  const end = clock.monotonic() + PATIENCE;
  while (!isMet()) {
    if (clock.monotonic() > end) throw new TimeoutError(what(), PATIENCE);
    await clock.sleep(INTERVAL);
  }
}
