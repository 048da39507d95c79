// The routers of a test network: real ones, each with a folder of its own. Each listens for links, SDKs and proxied
// services on ports that the system chooses.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { ProjectError } from '#lib/errors.ts';
import type { Log } from '#lib/log/log.ts';
import type { Random } from '#lib/random.ts';
import type { Clock } from '#lib/time/clock.ts';
import { findingText } from '../agent/config/finding.ts';
import { loadRouterConfig } from '../agent/config/load.ts';
import { type EnrollmentResult, enrollRouter } from '../agent/enroll/enroll.ts';
import { Router, type RouterOptions } from '../agent/router.ts';
import type { Lab } from '../controller-sim/lab/lab.ts';
import type { LabRouter } from '../controller-sim/lab/network/readiness.ts';
import type { DialPlace, LabRouters } from '../controller-sim/lab/network/services.ts';
import type { NetworkRouter } from './interface.ts';
import { writeRouterFile } from './router-file.ts';

const HOST = '127.0.0.1';

export interface RouterComponents {
  readonly clock: Clock;
  /** The time of the lab, by which certificates are renewed. */
  readonly calendar: Clock;
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
  const { clock, calendar, log, random } = components;
  const configFile = writeConfig(components, name);
  const { routerId: id } = await enrollWith(configFile, token, { clock, log });
  const router = await startWith(configFile, { log: log.child({ router: name }), clock, calendar, random });
  const [edgeAddress = { host: HOST, port: 0 }] = router.describe().edgeListeners;
  return { id, name, configFile, edgeAddress, router };
}

/** Exchanges a one-time token for the certificates of a router. Rejects with EnrollmentError. */
export function enrollWith(
  configFile: string,
  token: string,
  { clock, log }: Pick<RouterComponents, 'clock' | 'log'>,
): Promise<EnrollmentResult> {
  const config = loaded(configFile, { beforeEnrollment: true });
  return enrollRouter({ config, jwt: token, keyAlgorithm: 'EC', clock, log });
}

/** Starts an enrolled router. Rejects with ListenError. */
export function startWith(configFile: string, options: Omit<RouterOptions, 'config'>): Promise<Router> {
  return Router.start({ config: loaded(configFile), ...options });
}

function writeConfig({ controlAddress, folder }: RouterComponents, name: string): string {
  const own = join(folder, name);
  mkdirSync(own, { recursive: true });
  const free = `tls:${HOST}:0`;
  const healthyDialBackoff = { minRetryInterval: '200ms', maxRetryInterval: '1s' };
  return writeRouterFile(join(own, 'router'), controlAddress, {
    link: {
      listeners: [{ binding: 'transport', bind: free, advertise: free }],
      dialers: [{ binding: 'transport', healthyDialBackoff }],
    },
    listeners: [
      { binding: 'edge', address: free, options: { advertise: `${HOST}:0` } },
      { binding: 'tunnel', options: { mode: 'proxy', services: [] } },
    ],
  });
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

/** The routers with the addresses that the controller tells SDKs: those of its proxies. It must know all of them. */
export function withEdgeProxies(
  routers: readonly NetworkRouter[],
  proxies: Pick<Lab['proxies'], 'list'>,
): NetworkRouter[] {
  const places = new Map(proxies.list().map(({ name, host, port }) => [name, { host, port }]));
  return routers.map((router) => ({ ...router, edgeAddress: places.get(`sdk:${router.name}`) ?? router.edgeAddress }));
}

/** Opens a proxy port for each service, on another router than its host if there is one. */
export class ServicePorts implements LabRouters {
  readonly routers: readonly LabRouter[];
  readonly #routers: readonly NetworkRouter[];
  readonly #open = new Map<string, Promise<DialPlace>>();

  constructor(routers: readonly NetworkRouter[]) {
    this.#routers = routers;
    this.routers = routers.map(({ name, router }) => ({
      name,
      describe: () => router.describe(),
      circuitBytes: () => router.circuitBytes(),
    }));
  }

  async open(service: string, host: string): Promise<{ dial: DialPlace; from: string }> {
    const from = this.#routers.find(({ name }) => name !== host)?.name ?? host;
    return { dial: await this.at(service, from), from };
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
