// A network for tests, in one process but over sockets: a simulator, routers that enroll and run, services, an echo
// server. Everything is closed when the test ends.

import { mkdtempSync, rmSync } from 'node:fs';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Log, silentLog } from '#lib/log/log.ts';
import type { IoContext } from '#lib/net/io-context.ts';
import { SystemClock } from '#lib/time/clock.ts';
import type { RouterFile } from '../../../agent/config/router-file.ts';
import type { Router, RouterOptions } from '../../../agent/router.ts';
import { type SimulatorOptions, startSimulator } from '../../../controller-sim/assembly/simulator.ts';
import { TEST_COST } from '../../../controller-sim/auth/passwords.ts';
import type { Simulator } from '../../../controller-sim/interface/simulator.ts';
import { EchoServer } from '../../../examples/two-routers/transfer.ts';
import { writeRouterFile } from '../../../testbed/router-file.ts';
import { enrollWith, startWith } from '../../../testbed/routers.ts';
import { createConfig, createRouter, hostService, type Management, openManagement } from '../clients/management.ts';
import { type LinkSection, linkDialer, linkListener, type TunnelOptions } from '../config/link-config.ts';
import { until } from '../until.ts';
import { atItsPort } from './fixed-ports.ts';
import { portsOf, type RouterPorts } from './router-ports.ts';

export interface EnrolledRouter {
  readonly id: string;
  readonly name: string;
  readonly configFile: string;
}

/** A running router. Each port is that of the first listener of its kind; the system chooses it anew at each start. */
export class TestRouter implements EnrolledRouter {
  readonly id: string;
  readonly name: string;
  readonly configFile: string;
  router: Router;

  constructor({ id, name, configFile }: EnrolledRouter, router: Router) {
    this.id = id;
    this.name = name;
    this.configFile = configFile;
    this.router = router;
  }

  get ports(): RouterPorts {
    return portsOf(this.router.describe());
  }

  get linkPort(): number {
    return this.#first('link');
  }

  /** The port of the listener for controllers. */
  get controlPort(): number {
    return this.#first('control');
  }

  get sdkPort(): number {
    return this.#first('sdk');
  }

  get proxyPort(): number {
    return this.#first('proxy');
  }

  get webPort(): number {
    return this.#first('web');
  }

  #first(kind: keyof RouterPorts): number {
    const [port] = this.ports[kind];
    if (port === undefined) throw new Error(`router ${this.name} has no listener of this kind: ${kind}`);
    return port;
  }
}

export interface RouterSetup {
  name: string;
  /** `proxy` listens for the service `echo`, `host` hosts every permitted service. */
  mode?: 'proxy' | 'host' | 'tproxy';
  /** Additional options of the tunneler. */
  tunnel?: TunnelOptions;
  /** Additional sections. */
  extra?: RouterFile;
  edge?: RouterFile['edge'];
  /** Keys of the section `ctrl`, beside the endpoint. */
  ctrl?: RouterFile['ctrl'];
  /** Additional listeners. */
  listeners?: RouterFile['listeners'];
  /** Service and port pairs of the proxy. */
  services?: readonly string[];
  /** Instead of the default listener and dialer. */
  link?: LinkSection;
}

export interface ServiceSetup {
  encrypted?: boolean;
  /** Hosted port on 127.0.0.1; by default the echo server's. */
  port?: number;
  /** Data of host.v1, instead of that port. */
  host?: Readonly<Record<string, unknown>>;
  /** Data of additional configurations, by config type. */
  configs?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/** The part of a controller that a network uses. */
export interface TestController {
  /** `tls:host:port`, for routers. */
  readonly controlAddress: string;
  close(): Promise<void>;
}

export class Overlay<Controller extends TestController = Simulator> {
  readonly directory = mkdtempSync(join(tmpdir(), 'edgeweave-test-'));
  readonly routers: TestRouter[] = [];
  readonly echo: EchoServer;
  readonly log: Log;
  simulator: Controller;
  management: Management;

  private constructor(simulator: Controller, management: Management, echo: EchoServer, log: Log) {
    this.simulator = simulator;
    this.management = management;
    this.echo = echo;
    this.log = log;
  }

  /** @param io Shared by the connections of the simulator; default: a context of its own. */
  static async start(options: SimulatorOptions = {}, io?: IoContext): Promise<Overlay> {
    const log = options.log ?? silentLog;
    const started = { passwordCost: TEST_COST, password: 'secret', ...options, log };
    const simulator = await startSimulator(await atItsPort(started), io);
    const management = await openManagement(simulator.managementUrl, simulator.ca, simulator.username, 'secret');
    return new Overlay(simulator, management, await EchoServer.start(), log);
  }

  /** A network of another controller; `management` is logged in there. */
  static async of<Other extends TestController>(controller: Other, management: Management): Promise<Overlay<Other>> {
    return new Overlay<Other>(controller, management, await EchoServer.start(), silentLog);
  }

  /** Creates a router, enrolls it and starts it. */
  async addRouter(setup: RouterSetup, options: Partial<RouterOptions> = {}): Promise<TestRouter> {
    const enrolled = await this.enrollRouter(setup);
    const router = await this.startRouter(enrolled.configFile, options);
    const added = new TestRouter(enrolled, router);
    this.routers.push(added);
    return added;
  }

  /** Creates a router and enrolls it. */
  async enrollRouter(setup: RouterSetup): Promise<EnrolledRouter> {
    const { id, enrollmentJwt } = await createRouter(this.management, { name: setup.name, isTunnelerEnabled: true });
    const configFile = this.writeConfig(setup);
    await enrollWith(configFile, enrollmentJwt, { clock: new SystemClock(), log: this.log });
    return { id, name: setup.name, configFile };
  }

  async startRouter(configFile: string, options: Partial<RouterOptions> = {}): Promise<Router> {
    return startWith(configFile, { log: this.log, ...options });
  }

  /** Writes a configuration file, and returns its path. */
  writeConfig(setup: RouterSetup): string {
    const { name, mode, services = ['echo:0'] } = setup;
    const options = { mode, ...(mode === 'proxy' && { services }), ...setup.tunnel };
    return writeRouterFile(join(this.directory, name), this.simulator.controlAddress, {
      ...(setup.ctrl && { ctrl: setup.ctrl }),
      ...(setup.edge && { edge: setup.edge }),
      link: setup.link ?? { listeners: [linkListener()], dialers: [linkDialer({ startupDelay: undefined })] },
      ...(mode && { listeners: [{ binding: 'tunnel', options }, ...(setup.listeners ?? [])] }),
      ...setup.extra,
    });
  }

  /** Returns the config's id. `type` is the name of a config type. */
  async addConfig(name: string, type: string, data: Readonly<Record<string, unknown>>): Promise<string> {
    return createConfig(this.management, name, type, data);
  }

  /** Adds a service that every identity may dial and one router hosts. Returns its id. */
  async addService(name: string, hostedBy: string, options: ServiceSetup = {}): Promise<string> {
    const host = options.host ?? { protocol: 'tcp', address: '127.0.0.1', port: options.port ?? this.echo.port };
    return hostService(this.management, name, {
      hostedBy,
      isEncrypted: options.encrypted ?? true,
      configs: { 'host.v1': host, ...options.configs },
    });
  }

  /** Resolves once the service can be dialed: it has a terminator, and every router has a link to each other router. */
  async ready(): Promise<void> {
    await until('a terminator', async () => (await this.management.terminators.list()).length > 0);
    await until('links', async () =>
      this.routers.every(({ router }) => router.describe().links.length >= this.routers.length - 1),
    );
  }

  /** Starts another simulator on the same data after the first was closed. */
  async restart(this: Overlay, options: SimulatorOptions): Promise<void> {
    await this.management.close();
    const started = { passwordCost: TEST_COST, churnLimit: 0, ...options, log: this.log };
    this.simulator = await startSimulator(await atItsPort(started));
    const { managementUrl, ca, username } = this.simulator;
    this.management = await openManagement(managementUrl, ca, username, 'secret');
  }

  async close(): Promise<void> {
    await Promise.all(this.routers.map(({ router }) => router.close({ drain: 0 })));
    await this.management.close();
    await this.simulator.close();
    this.echo.close();
    rmSync(this.directory, { recursive: true, force: true });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

/** Router a proxies the service `echo`, which router b hosts. */
export async function proxyNetwork(): Promise<{ overlay: Overlay; a: TestRouter; b: TestRouter }> {
  const overlay = await Overlay.start({ churnLimit: 0 });
  const a = await overlay.addRouter({ name: 'a', mode: 'proxy' });
  const b = await overlay.addRouter({ name: 'b', mode: 'host' });
  await overlay.addService('echo', b.id);
  await overlay.ready();
  return { overlay, a, b };
}

/**
 * Resolves when a connection has ended: with its error code, such as `ECONNRESET`, or with `closed` if there was no
 * error.
 */
export function ending(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    let how = 'closed';
    socket.on('error', (error: NodeJS.ErrnoException) => {
      how = error.code ?? error.message;
    });
    socket.once('close', () => resolve(how));
  });
}
