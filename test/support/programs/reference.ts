// Runs the reference's binary in tests: its routers, tunnelers and controller as processes that end with the test. The
// environment variable ZITI_BIN names the binary.

import { type ChildProcess, spawn } from 'node:child_process';
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDevice, createRouter, type Management, openManagement } from '../clients/management.ts';
import { edgeListener, linkDialer, linkListener } from '../config/link-config.ts';
import { fixedPorts } from '../networks/fixed-ports.ts';
import type { Overlay, RouterSetup, TestController } from '../networks/overlay.ts';
import { until } from '../until.ts';

const BINARY = process.env.ZITI_BIN;
const ENROLL_TIME = 30_000;
const START_TIME = 40_000;
const LOG_TAIL = 20;

/** For the option `skip` of a test: false if the binary exists, else the reason. */
export const skipped: string | false =
  BINARY !== undefined && existsSync(BINARY)
    ? false
    : 'the tests of test/interop: the environment variable ZITI_BIN does not name a binary of the reference';

const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

export interface ReferenceProcessOptions {
  /** Text for the standard input of the program, which stays open. By default the program has none. */
  readonly input?: string | undefined;
  /** Another program, such as one of the C SDK. */
  readonly binary?: string;
  /** More variables of its environment. */
  readonly env?: Readonly<Record<string, string>>;
}

/** A run of the binary. Its output goes to a file. */
export class ReferenceProcess {
  readonly name: string;
  readonly logFile: string;
  /** The exit code, or null after a signal. */
  readonly exited: Promise<number | null>;
  readonly #child: ChildProcess;

  constructor(
    name: string,
    args: readonly string[],
    directory: string,
    { input, binary = BINARY ?? '', env = {} }: ReferenceProcessOptions = {},
  ) {
    this.name = name;
    this.logFile = join(directory, `${name}.reference.log`);
    this.#child = spawn(binary, args, {
      cwd: directory,
      stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
      env: { ...process.env, HOME: directory, ZITI_CONFIG_DIR: join(directory, 'cli'), ...env },
    });
    running.add(this.#child);
    this.#child.stdin?.write(input);
    for (const stream of [this.#child.stdout, this.#child.stderr])
      stream?.on('data', (text: Buffer) => appendFileSync(this.logFile, text));
    this.exited = new Promise((resolve) => {
      this.#child.once('error', () => resolve(null));
      this.#child.once('close', (code) => {
        running.delete(this.#child);
        resolve(code);
      });
    });
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  get log(): string {
    return existsSync(this.logFile) ? readFileSync(this.logFile, 'utf8') : '';
  }

  get isRunning(): boolean {
    return running.has(this.#child);
  }

  /** Kills it without a drain. */
  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.exited;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }

  /** Resolves with its output once it exits with code 0. */
  async done(milliseconds: number = ENROLL_TIME): Promise<string> {
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), milliseconds);
    const code = await this.exited;
    clearTimeout(timer);
    if (code === 0) return this.log;
    const tail = this.log.trimEnd().split('\n').slice(-LOG_TAIL).join('\n');
    throw new Error(`${this.name} of the reference ended with ${code ?? 'a signal'}:\n${tail}`);
  }
}

/** A router of the reference in one of our networks. It advertises the ports of its file, so they must be fixed. */
export class ReferenceRouter {
  readonly id: string;
  readonly name: string;
  readonly configFile: string;
  readonly proxyPort: number;
  process: ReferenceProcess;
  readonly #directory: string;

  private constructor(facts: Pick<ReferenceRouter, 'id' | 'name' | 'configFile' | 'proxyPort'>, directory: string) {
    this.id = facts.id;
    this.name = facts.name;
    this.configFile = facts.configFile;
    this.proxyPort = facts.proxyPort;
    this.#directory = directory;
    this.process = this.#run();
  }

  /** Creates a router, enrolls it with the reference's command, and starts it. */
  static async start(overlay: Overlay<TestController>, setup: RouterSetup): Promise<ReferenceRouter> {
    const { management, directory } = overlay;
    const { id, enrollmentJwt } = await createRouter(management, { name: setup.name, isTunnelerEnabled: true });
    const [linkPort, edgePort, proxyPort = 0] = await fixedPorts(3);
    const configFile = overlay.writeConfig({
      link: { listeners: [linkListener(linkPort)], dialers: [linkDialer({ startupDelay: undefined })] },
      services: [`echo:${proxyPort}`],
      // The reference only enrolls routers with an edge listener.
      listeners: [edgeListener(edgePort)],
      ...setup,
    });
    const tokenFile = `${configFile}.jwt`;
    writeFileSync(tokenFile, enrollmentJwt);
    const enrollment = ['router', 'enroll', configFile, '-j', tokenFile];
    await new ReferenceProcess(`${setup.name}-enroll`, enrollment, directory).done();
    return new ReferenceRouter({ id, name: setup.name, configFile, proxyPort }, directory);
  }

  /** Kills it and starts it again. */
  async restart(): Promise<void> {
    await this.process.kill();
    this.process = this.#run();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.process.kill();
  }

  #run(): ReferenceProcess {
    return new ReferenceProcess(this.name, ['router', 'run', this.configFile], this.#directory);
  }
}

/** The reference's controller, with its own authority and data in a temporary folder. */
export class ReferenceController implements TestController {
  readonly controlAddress: string;
  readonly baseUrl: string;
  /** The authority's certificate, as PEM. */
  readonly ca: string;
  readonly management: Management;
  readonly #process: ReferenceProcess;
  readonly #directory: string;

  private constructor(facts: {
    controlAddress: string;
    ca: string;
    management: Management;
    process: ReferenceProcess;
    directory: string;
  }) {
    this.controlAddress = facts.controlAddress;
    this.baseUrl = facts.controlAddress.replace('tls:', 'https://');
    this.ca = facts.ca;
    this.management = facts.management;
    this.#process = facts.process;
    this.#directory = facts.directory;
  }

  /**
   * Starts one on a free port, without a router, and logs in. With `dialsRouters` it dials routers of the group
   * `default`.
   */
  static async start({ dialsRouters = false } = {}): Promise<ReferenceController> {
    const directory = mkdtempSync(join(tmpdir(), 'edgeweave-test-'));
    const [port] = await fixedPorts(1);
    const home = join(directory, 'home');
    const where = ['--home', home, '--ctrl-address', '127.0.0.1', '--ctrl-port', `${port}`];
    let process = new ReferenceProcess('controller', ['edge', 'quickstart', '--no-router', ...where], directory);
    const url = `https://127.0.0.1:${port}/edge/management/v1`;
    const authority = join(home, 'pki/root-ca/certs/root-ca.cert');
    let management = await loggedIn(url, authority);
    if (dialsRouters) {
      // The quickstart has no option for this: change its files, then run the controller with them.
      await management.close();
      await process.kill();
      const configFile = join(home, 'instance-1/ctrl.yaml');
      const dialer = 'ctrl:\n  dialer: {enabled: true, dialDelay: 1s, minRetryInterval: 1s, groups: [default]}\n';
      writeFileSync(configFile, readFileSync(configFile, 'utf8').replace(/^ctrl:\n/m, dialer));
      process = new ReferenceProcess('controller', ['controller', 'run', configFile], directory);
      management = await loggedIn(url, authority);
    }
    const ca = readFileSync(authority, 'utf8');
    return new ReferenceController({ controlAddress: `tls:127.0.0.1:${port}`, ca, management, process, directory });
  }

  async close(): Promise<void> {
    await this.#process.kill();
    rmSync(this.#directory, { recursive: true, force: true });
  }
}

/** Waits until the reference's controller accepts changes: after a start its cluster has no leader for a while. */
async function loggedIn(url: string, authority: string): Promise<Management> {
  await until('the authority of the reference', () => existsSync(authority), START_TIME);
  let management: Management | undefined;
  const tryChange = async () => {
    management ??= await openManagement(url, readFileSync(authority, 'utf8'), 'admin', 'admin');
    const { id } = await management.identities.create({ name: 'leader-probe', type: 'Default', isAdmin: false });
    await management.identities.delete(id);
  };
  const isUp = () =>
    tryChange().then(
      () => true,
      () => false,
    );
  await until('the controller of the reference', isUp, START_TIME);
  if (!management) throw new Error('the controller of the reference is not up');
  return management;
}

/** Creates an identity and enrolls it with the reference's command. Returns its file and id. */
export async function enrollIdentity(
  { management, directory }: Overlay<TestController>,
  name: string,
): Promise<{ id: string; file: string }> {
  const { id, jwt } = await createDevice(management, { name, type: 'Default', roleAttributes: [name] });
  const file = join(directory, `${name}.json`);
  writeFileSync(`${file}.jwt`, jwt);
  const args = ['edge', 'enroll', '--jwt', `${file}.jwt`, '--out', file, '--keyAlg', 'EC'];
  await new ReferenceProcess(`${name}-enroll`, args, directory).done();
  return { id, file };
}

/** Permits `identity` to use one router, for all services. */
export async function allowRouter(overlay: Overlay<TestController>, name: string, routerId: string): Promise<void> {
  await overlay.management.edgeRouterPolicies.create({
    name: `${name} at its router`,
    semantic: 'AnyOf',
    identityRoles: [`#${name}`],
    edgeRouterRoles: [`@${routerId}`],
  });
}

/** Logs in with its command line. Returns a function that resolves with the output of a command. */
export async function commandLine(overlay: Overlay): Promise<(...args: string[]) => Promise<string>> {
  const { directory, simulator } = overlay;
  const authority = join(directory, 'authority.pem');
  writeFileSync(authority, simulator.ca);
  let runs = 0;
  const ziti = (...args: string[]) => new ReferenceProcess(`cli-${runs++}`, args, directory).done();
  await ziti('edge', 'login', simulator.baseUrl, '-u', simulator.username, '-p', 'secret', '--ca', authority, '-y');
  return ziti;
}
