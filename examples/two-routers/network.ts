// A whole network on loopback. Each part is a separate process, and all of them communicate over sockets:
//
//   client ─► proxy of router A ═══ link ═══ router B ─► echo server
//                     └────── control channels ──────┘
//                                simulator
//
// Each step is timed. All facts come from the APIs for operators: management API and health checks.

import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type HealthAnswer, readHealth, requestHealth } from '../../agent/commands/health-request.ts';
import type { RouterDescription } from '../../agent/interface/description.ts';
import { askRouter } from '../../agent/operator/operator-client.ts';
import { createRouter, hostService, type Management, openManagement } from '../../test/support/clients/management.ts';
import { until } from '../../test/support/until.ts';
import { Program } from './process.ts';
import { EchoServer, type Transfer, transfer } from './transfer.ts';

export interface Step {
  readonly name: string;
  readonly ms: number;
}

export interface ControllerFacts {
  readonly management: string;
  readonly client: string;
  readonly dashboard: string;
  readonly ctrl: string;
  readonly username: string;
  readonly password: string;
  /** File. */
  readonly ca: string;
  readonly pid: number;
}

export interface RouterFacts {
  readonly id: string;
  readonly name: string;
  readonly pid: number;
  readonly healthUrl: string;
  readonly metricsUrl: string;
  /** Authorities that verify its server. */
  readonly ca: string;
  readonly log: string;
  health: 'healthy' | 'unhealthy';
}

export interface LinkFacts {
  readonly id: string;
  readonly from: string;
  readonly to: string;
  readonly addresses: Readonly<Record<string, { localAddr: string; remoteAddr: string }>>;
}

interface HealthyLink {
  readonly destRouterId: string;
  readonly addresses: LinkFacts['addresses'];
}

/** As for `npm run router`: its memory and the cache of compiled code depend on it. */
const ROUTER_OPTIONS = ['--max-semi-space-size=4'];
const NAMES = ['router-a', 'router-b'] as const;
const BYTES = 8 * 1024 * 1024;
const PATIENCE = 20_000;

export class Network {
  readonly steps: Step[] = [];
  readonly routers: RouterFacts[] = [];
  readonly directory: string;
  links: LinkFacts[] = [];
  controller: ControllerFacts | undefined;
  transfer: Transfer | undefined;
  proxyPort = 0;
  readonly #programs: Program[] = [];
  readonly #onStep: (step: Step) => void;
  #management: Management | undefined;
  #echo: EchoServer | undefined;
  #env: Readonly<Record<string, string>> = {};
  #coming: Promise<void> | undefined;
  #closing = false;

  private constructor(directory: string, onStep: (step: Step) => void) {
    this.directory = directory;
    this.#onStep = onStep;
  }

  /** Does not start any process yet. */
  static async prepare(onStep: (step: Step) => void): Promise<Network> {
    try {
      return new Network(await mkdtemp(join(tmpdir(), 'edgeweave-example-')), onStep);
    } catch (error) {
      throw new Error(`no folder can be created in ${tmpdir()}; set TMPDIR to a writable folder`, {
        cause: error,
      });
    }
  }

  /** Starts all parts and sends bytes through the network. Rejects with the error; call `close` in any case. */
  up(): Promise<void> {
    this.#coming ??= this.#bringUp();
    return this.#coming;
  }

  /** Resolves when one of the processes has ended unexpectedly. */
  async somethingEnded(): Promise<string> {
    return Promise.race(
      this.#programs.map((program) => program.exited.then((code) => `${program.name} ended with exit code ${code}`)),
    );
  }

  /** Stops all processes, routers first, and aborts a start in progress. */
  async close(): Promise<void> {
    this.#closing = true;
    const [controller, ...others] = this.#programs;
    await Promise.all(others.map((program) => program.stop()));
    await controller?.stop();
    await this.#coming?.catch(() => undefined); // the caller of `up` received the error
    this.#echo?.close();
    await this.#management?.close();
  }

  /** Removes certificates, keys and logs. */
  removeFiles(): void {
    rmSync(this.directory, { recursive: true, force: true });
  }

  /** The last lines of every log, for error messages. */
  logTails(): string {
    return this.#programs.map((program) => `--- ${program.logFile}\n${program.logTail()}`).join('\n');
  }

  async #bringUp(): Promise<void> {
    /** Router name → id and one-time token. */
    const created = new Map<string, { id: string; jwt: string }>();
    await this.#step('start the controller', () => this.#startController());
    await this.#step('create the edge routers', () => this.#createRouters(created));
    await this.#step('enroll the routers', () => this.#enroll(created));
    await this.#step('create the service and its policies', () =>
      this.#createService([...created.values()].map(({ id }) => id)),
    );
    await this.#step('connect the routers to the controller', () => this.#startRouters());
    await this.#step('link the routers', () => this.#waitForLink());
    await this.#step('host the service', () => this.#waitForTerminator());
    await this.#step('send 8 MiB through the network and back', () => this.#transfer());
    await this.#step('check the health of the routers', () => this.#checkHealth());
  }

  async #step(name: string, work: () => Promise<void>): Promise<void> {
    this.#mustBeWanted();
    const start = performance.now();
    await work();
    const step = { name, ms: Math.round(performance.now() - start) };
    this.steps.push(step);
    this.#onStep(step);
  }

  async #startController(): Promise<void> {
    this.#echo = await EchoServer.start();
    const program = this.#run('controller', ['entry/sim-cli.ts', 'start', '--json', '--log-format', 'text']);
    const { event: _event, ...facts } = JSON.parse(await program.firstLine()) as ControllerFacts & { event: string };
    this.controller = facts;
    const { management, username, password } = facts;
    this.#management = await openManagement(management, readFileSync(facts.ca, 'utf8'), username, password);
  }

  async #createRouters(created: Map<string, { id: string; jwt: string }>): Promise<void> {
    for (const name of NAMES) {
      const router = { name, isTunnelerEnabled: true, roleAttributes: ['example'] };
      const { id, enrollmentJwt } = await createRouter(this.#api(), router);
      created.set(name, { id, jwt: enrollmentJwt });
    }
  }

  async #enroll(created: ReadonlyMap<string, { jwt: string }>): Promise<void> {
    this.#env = { EXAMPLE_DIR: this.directory, EXAMPLE_CTRL: this.controller?.ctrl ?? '' };
    mkdirSync(this.directory, { recursive: true });
    await Promise.all(
      NAMES.map(async (name) => {
        // A running router is known by its file: with a copy in each network's folder, several can run.
        copyFileSync(join(import.meta.dirname, `${name}.yml`), this.#config(name));
        const jwt = join(this.directory, `${name}.jwt`);
        writeFileSync(jwt, created.get(name)?.jwt ?? '', { mode: 0o600 });
        const args = ['entry/router-cli.ts', 'enroll', this.#config(name), '--jwt', jwt, '--key-alg', 'EC'];
        const program = this.#run(`enroll-${name}`, args, this.#env);
        await program.done();
        this.#programs.splice(this.#programs.indexOf(program), 1); // done, and not part of the running network
      }),
    );
  }

  /**
   * Router B may host the service and router A may dial it, over any router. A router's identity has the router's id.
   */
  async #createService([a = '', b = '']: readonly string[]): Promise<void> {
    const configs = { 'host.v1': { protocol: 'tcp', address: '127.0.0.1', port: this.#echo?.port } };
    await hostService(this.#api(), 'echo', { dialedBy: a, hostedBy: b, isEncrypted: true, configs });
  }

  async #startRouters(): Promise<void> {
    const programs = NAMES.map((name) =>
      this.#run(
        name,
        ['entry/router-cli.ts', 'run', this.#config(name), '--log-format', 'text'],
        this.#env,
        ROUTER_OPTIONS,
      ),
    );
    const routers = await this.#until('both routers to be online', async () => {
      const routers = await this.#api().edgeRouters.list({ sort: 'name' });
      return routers.filter(({ isOnline }) => isOnline).length === NAMES.length ? routers : undefined;
    });
    for (const [index, { id, name }] of routers.entries()) {
      const { web, proxies } = await this.#inspect(name);
      const base = `https://${web[0]}`;
      for (const { port } of proxies) this.proxyPort = port;
      const { pid = 0, logFile = '' } = programs[index] ?? {};
      const ca = join(this.directory, `${name}.cas`);
      this.routers.push({
        id,
        name,
        pid,
        healthUrl: `${base}/health-checks`,
        metricsUrl: `${base}/metrics`,
        ca,
        log: logFile,
        health: 'unhealthy',
      });
    }
  }

  /** The state of a running router: the system has chosen its ports. The command `router inspect FILE` prints it. */
  async #inspect(name: string): Promise<RouterDescription> {
    return (await askRouter(this.#config(name), 'inspect')) as RouterDescription;
  }

  async #waitForLink(): Promise<void> {
    this.links = await this.#until('a link, at both routers and the controller', async () => {
      const links = await Promise.all(this.routers.map((router) => this.#linksOf(router)));
      const [known] = await this.#api().fabric.links.list();
      if (known === undefined || links.some((each) => each.length === 0)) return undefined;
      const { id, sourceRouter, destRouter } = known;
      const source = this.routers.findIndex((router) => router.id === sourceRouter?.id);
      const { addresses = {} } = links[source]?.find(({ destRouterId }) => destRouterId === destRouter?.id) ?? {};
      return [{ id, from: sourceRouter?.name ?? '', to: destRouter?.name ?? '', addresses }];
    });
  }

  async #linksOf(router: RouterFacts): Promise<readonly HealthyLink[]> {
    const { checks = [] } = await this.#health(router);
    return (checks.find(({ id }) => id === 'link.health')?.details ?? []) as readonly HealthyLink[];
  }

  async #waitForTerminator(): Promise<void> {
    await this.#until('a terminator of the service', async () => (await this.#api().terminators.list()).length > 0);
  }

  async #transfer(): Promise<void> {
    this.transfer = await transfer(this.proxyPort, BYTES);
    const { bytes, sha256Sent, sha256Received } = this.transfer;
    if (bytes !== BYTES || sha256Sent !== sha256Received)
      throw new Error(`${bytes} of ${BYTES} bytes were returned; ${sha256Sent} sent, ${sha256Received} received`);
  }

  async #checkHealth(): Promise<void> {
    for (const router of this.routers) {
      await this.#until(`${router.name} to be healthy`, async () => (await this.#health(router)).healthy);
      router.health = 'healthy';
    }
  }

  async #health({ healthUrl, ca }: RouterFacts): Promise<HealthAnswer> {
    const health = readHealth(await requestHealth({ url: healthUrl, ca: readFileSync(ca, 'utf8') }));
    if (!health) throw new Error(`${healthUrl} does not answer like a router`);
    return health;
  }

  /** Rejects after `PATIENCE`, and as soon as a program has ended: its log then says why. */
  async #until<T>(what: string, look: () => Promise<T>) {
    let ended: string | undefined;
    void this.somethingEnded().then((text) => {
      ended = text;
    });
    const lookAgain = () => {
      this.#mustBeWanted();
      if (ended !== undefined) throw new Error(`${ended}, waiting for ${what}`);
      return look();
    };
    return until(what, lookAgain, PATIENCE);
  }

  #run(
    name: string,
    args: readonly string[],
    env: Readonly<Record<string, string>> = {},
    node: readonly string[] = [],
  ): Program {
    this.#mustBeWanted();
    const program = new Program(name, args, { directory: this.directory, env, node });
    this.#programs.push(program);
    return program;
  }

  #mustBeWanted(): void {
    if (this.#closing) throw new Error('the network is being closed');
  }

  #config(name: string): string {
    return join(this.directory, `${name}.yml`);
  }

  #api(): Management {
    if (!this.#management) throw new Error('the controller is not running');
    return this.#management;
  }
}
