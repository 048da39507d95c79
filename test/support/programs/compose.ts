// Runs a compose file without an engine: our images as containers (image.ts), each in its own network namespace, in the
// order of `depends_on`. The services with images of others run their commands with this machine's programs.

import { type ChildProcess, spawn } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parse } from 'yaml';
import { until } from '../until.ts';
import { ContainerNetwork } from './container-network.ts';
import { type Container, ImageRoot } from './image.ts';

/** The part of the format that this project's compose files use. */
export interface ComposeService {
  readonly image?: string;
  readonly user?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly volumes?: readonly string[];
  readonly entrypoint?: readonly string[];
  readonly command?: readonly string[];
  readonly network_mode?: string;
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
}

interface Compose {
  readonly services: Readonly<Record<string, ComposeService>>;
}

interface ComposeOptions {
  /** For volumes, unpacked images and the file of hosts. */
  readonly folder: string;
  /** Folders of our images, by name. */
  readonly images: Readonly<Record<string, string>>;
  /** Programs of this machine that replace those of other images. */
  readonly programs: Readonly<Record<string, string>>;
}

/** User of both images. */
const USER = 2171;
const HEALTH_PATIENCE_MS = 60_000;

export class ComposeRun {
  readonly services: Readonly<Record<string, ComposeService>>;
  readonly #options: ComposeOptions;
  readonly #file: string;
  readonly #network: ContainerNetwork;
  readonly #containers = new Map<string, Container>();

  private constructor(file: string, options: ComposeOptions) {
    this.services = (parse(readFileSync(file, 'utf8'), { merge: true }) as Compose).services;
    this.#options = options;
    this.#file = file;
    this.#network = new ContainerNetwork(join(options.folder, 'hosts'), this.#own());
  }

  static async open(file: string, options: ComposeOptions): Promise<ComposeRun> {
    const compose = new ComposeRun(file, options);
    await compose.#network.open(compose.#own());
    return compose;
  }

  /** Starts a service once its dependencies are as it needs them. */
  async start(name: string): Promise<Container> {
    for (const [other, { condition }] of Object.entries(this.services[name]?.depends_on ?? {}))
      await this.#await(other, condition);
    const container = this.#run(name, this.#service(name));
    this.#containers.set(name, container);
    return container;
  }

  /** Resolves with the exit codes of the services that the test stops. */
  async stop(...names: string[]): Promise<(number | null)[]> {
    const stopped = names.map((name) => this.#container(name));
    for (const { child } of stopped) child.kill('SIGTERM');
    return Promise.all(stopped.map(({ ended }) => ended));
  }

  close(): void {
    for (const { child } of this.#containers.values()) child.kill('SIGKILL');
    this.#network.close();
  }

  #own(): string[] {
    return Object.entries(this.services).flatMap(([name, { network_mode }]) => (network_mode ? [] : [name]));
  }

  #service(name: string): ComposeService {
    const service = this.services[name];
    if (!service) throw new Error(`the compose file has no service ${name}`);
    return service;
  }

  #container(name: string): Container {
    const container = this.#containers.get(name);
    if (!container) throw new Error(`${name} was not started`);
    return container;
  }

  async #await(name: string, condition: string): Promise<void> {
    const container = this.#container(name);
    if (condition === 'service_completed_successfully') {
      if ((await container.ended) !== 0) throw new Error(`${name} failed: ${container.output()}`);
      return;
    }
    const service = this.#service(name);
    const [kind, ...entrypoint] = service.healthcheck?.test ?? [];
    if (condition !== 'service_healthy' || kind !== 'CMD')
      throw new Error(`${name}: this test has no ${condition} ${kind}`);
    const isHealthy = async () => {
      if (container.child.exitCode !== null) throw new Error(`${name} ended: ${container.output()}`);
      return (await this.#run(name, { ...service, entrypoint, command: [] }).ended) === 0;
    };
    await until(`${name} is healthy`, isHealthy, HEALTH_PATIENCE_MS);
  }

  #run(name: string, service: ComposeService): Container {
    const namespace = this.#network.prefix(service.network_mode?.replace(/^service:/, '') ?? name);
    const [image = ''] = (service.image ?? '').split(':');
    const layout = this.#options.images[image];
    if (layout === undefined) return this.#runHere(namespace, service);
    const { env, volumes, readOnly } = { env: service.environment ?? {}, ...this.#volumes(service) };
    const root = join(this.#options.folder, `root-${name}`);
    const unpacked = this.#unpacked(layout, root);
    return unpacked.start(service.command ?? unpacked.config.Cmd ?? [], {
      env,
      volumes: { ...volumes, '/etc/hosts': this.#network.hosts },
      readOnly: [...readOnly, '/etc/hosts'],
      namespace,
      ...(service.entrypoint && { entrypoint: service.entrypoint }),
      ...(service.user === 'root' && { user: '0:0' }),
    });
  }

  readonly #roots = new Map<string, ImageRoot>();

  #unpacked(layout: string, root: string): ImageRoot {
    const known = this.#roots.get(root) ?? ImageRoot.unpack(layout, root);
    this.#roots.set(root, known);
    return known;
  }

  /** Paths of volumes in the command become their sources. */
  #runHere(namespace: readonly string[], service: ComposeService): Container {
    const { volumes } = this.#volumes(service);
    const command = (service.command ?? []).map((part) => {
      const [path = '', source = ''] = Object.entries(volumes).find(([each]) => part.startsWith(`${each}/`)) ?? [];
      return path === '' ? (this.#options.programs[part] ?? part) : join(source, part.slice(path.length));
    });
    const script = 'mount --bind "$1" /etc/hosts; shift; exec "$@"';
    const [program = '', ...args] = [
      ...namespace,
      'unshare',
      '--mount',
      'sh',
      '-ec',
      script,
      'sh',
      this.#network.hosts,
    ];
    return started(spawn(program, [...args, ...command]));
  }

  #volumes(service: ComposeService): { volumes: Record<string, string>; readOnly: string[] } {
    const parts = (service.volumes ?? []).map((each) => each.split(':') as [string, string, string?]);
    const source = (name: string) => (name.startsWith('.') ? resolve(dirname(this.#file), name) : this.#volume(name));
    return {
      volumes: Object.fromEntries(parts.map(([name, path]) => [path, source(name)])),
      readOnly: parts.flatMap(([, path, mode]) => (mode === 'ro' ? [path] : [])),
    };
  }

  /** A named volume gets the owner of the folder in the image. */
  #volume(name: string): string {
    const folder = join(this.#options.folder, `volume-${name}`);
    if (!existsSync(folder)) {
      mkdirSync(folder, { mode: 0o770 });
      chownSync(folder, USER, USER);
    }
    return folder;
  }
}

function started(child: ChildProcess): Container {
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => (output += text));
  return { child, output: () => output, ended: new Promise((resolve) => child.once('close', resolve)) };
}
