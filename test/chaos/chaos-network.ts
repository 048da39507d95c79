// A controller with its data in a file, three real routers, and the steps of a history. Afterwards everything is
// repaired, and the parts of the network must agree within a time (agreement.ts).

import { join } from 'node:path';
import { type ApiAnswer, ApiClient } from '../support/clients/api-client.ts';
import { edgeListener } from '../support/config/link-config.ts';
import { Overlay, type TestRouter } from '../support/networks/overlay.ts';
import { disagreements } from './agreement.ts';
import { ROUTERS, type RouterName, type Step } from './steps.ts';

const PASSWORD = 'secret';
/** Milliseconds in which the parts of a repaired network have to agree. */
const PATIENCE = 20_000;
/** Milliseconds between two looks. */
const INTERVAL = 100;
const DELAY = 150;
/** Messages that one fault drops. */
const DROPPED = 3;

interface Entity {
  readonly id: string;
}

export class ChaosNetwork {
  readonly overlay: Overlay;
  api: ApiClient;
  /** Undefined while a router is stopped. */
  readonly #running = new Map<RouterName, TestRouter>();
  /** Routers whose control channel lost messages since it was opened. */
  readonly #lossy = new Set<RouterName>();
  readonly #data: string;
  #hasSnapshot = false;
  #problems: string[] = [];

  private constructor(overlay: Overlay, data: string) {
    this.overlay = overlay;
    this.#data = data;
    this.api = new ApiClient(overlay.simulator);
  }

  static async start(): Promise<ChaosNetwork> {
    const overlay = await Overlay.start({ churnLimit: 0 });
    const data = join(overlay.directory, 'chaos.db');
    await overlay.simulator.close();
    await overlay.restart({ data, password: PASSWORD });
    const network = new ChaosNetwork(overlay, data);
    await Promise.all(
      ROUTERS.map(async (name) => {
        const listeners = [edgeListener()];
        network.#running.set(name, await overlay.addRouter({ name, mode: 'host', listeners }));
      }),
    );
    const all = { semantic: 'AnyOf', identityRoles: ['#all'], edgeRouterRoles: ['#all'] };
    await network.api.create('/edge-router-policies', { name: 'all', ...all });
    const services = { name: 'all', semantic: 'AnyOf', serviceRoles: ['#all'], edgeRouterRoles: ['#all'] };
    await network.api.create('/service-edge-router-policies', services);
    return network;
  }

  /**
   * Runs the steps of a history in a new network. `patience`: milliseconds in which its parts have to agree afterwards.
   * @returns what is wrong at its end, or during it
   */
  static async run(steps: readonly Step[], patience = PATIENCE): Promise<string[]> {
    await using network = await ChaosNetwork.start();
    for (const step of steps) await network.do(step);
    return await network.settle(patience); // before the network is closed
  }

  get routers(): readonly TestRouter[] {
    return this.overlay.routers;
  }

  async do(step: Step): Promise<void> {
    const { lab } = this.overlay.simulator;
    switch (step.do) {
      case 'identity': {
        const { name, roles: roleAttributes } = step;
        return this.#put('/identities', name, { roleAttributes }, { type: 'User', isAdmin: false });
      }
      case 'service': {
        const { name, roles: roleAttributes } = step;
        return this.#put('/services', name, { roleAttributes }, { encryptionRequired: false });
      }
      case 'check': {
        const { name, roles: roleAttributes, domain } = step;
        return this.#put('/posture-checks', name, { roleAttributes, domains: [domain], typeId: 'DOMAIN' }, {});
      }
      case 'policy':
        return this.#policy(step);
      case 'delete':
        return this.#remove(`/${step.kind}`, step.name);
      case 'disable':
      case 'enable': {
        const id = await this.#idOf('/identities', step.name);
        const body = step.do === 'disable' ? { durationMinutes: 45 } : undefined;
        if (id !== undefined) await this.#ask('POST', `/identities/${id}/${step.do}`, body);
        return;
      }
      case 'host':
        return this.#host(step.name, step.router);
      case 'advance':
        return lab.clock.advance(step.minutes * 60_000);
      case 'snapshot':
        lab.snapshots.take('chaos');
        this.#hasSnapshot = true;
        return;
      case 'restore':
        if (this.#hasSnapshot) await lab.restore('chaos', { keep: ['clock', 'faults', 'journal'] });
        return;
      case 'disconnect':
        this.#disconnect(step.router);
        return;
      case 'stop':
      case 'kill':
        return this.#stop(step.router, step.do === 'kill' ? 0 : 50);
      case 'start':
        return this.#start(step.router);
      case 'restart':
        return this.#restart();
      case 'delay':
      case 'drop': {
        const { router, direction } = step;
        const effect = step.do === 'drop' ? { drop: true, times: DROPPED } : { delay: DELAY, times: DROPPED };
        lab.faults.add({ kind: 'control', router, direction, ...effect });
        if (step.do === 'drop') this.#lossy.add(router);
        return;
      }
      case 'wait':
        await new Promise((resolve) => setTimeout(resolve, step.milliseconds));
    }
  }

  /** Repairs everything. @returns what the parts still do not agree about at the end of the patience */
  async settle(patience: number): Promise<string[]> {
    this.overlay.simulator.lab.faults.clear();
    for (const name of ROUTERS) await this.#start(name);
    // Connections do not lose messages: a channel that did is cut.
    for (const name of this.#lossy) this.#disconnect(name);
    this.#lossy.clear();
    const end = performance.now() + patience;
    let wrong = await disagreements(this);
    while (wrong.length > 0 && performance.now() < end) {
      await new Promise((resolve) => setTimeout(resolve, INTERVAL));
      wrong = await disagreements(this);
    }
    return [...this.#problems, ...wrong];
  }

  async close(): Promise<void> {
    await this.api.close();
    await this.overlay.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #put(path: string, name: string, fields: object, atFirst: object): Promise<void> {
    const id = await this.#idOf(path, name);
    if (id === undefined) await this.#ask('POST', path, { name, ...fields, ...atFirst });
    else await this.#ask('PATCH', `${path}/${id}`, fields);
  }

  /** Names become ids; those of missing entities are left out. */
  async #policy(step: Extract<Step, { do: 'policy' }>): Promise<void> {
    const { name, type, semantic, postureCheckRoles } = step;
    const identityRoles = await this.#selectors('/identities', step.identityRoles);
    const serviceRoles = await this.#selectors('/services', step.serviceRoles);
    const body = { name, type, semantic, identityRoles, serviceRoles, postureCheckRoles };
    const id = await this.#idOf('/service-policies', name);
    if (id === undefined) await this.#ask('POST', '/service-policies', body);
    else await this.#ask('PUT', `/service-policies/${id}`, body);
  }

  async #selectors(path: string, roles: readonly string[]): Promise<string[]> {
    const found = await Promise.all(
      roles.map(async (role) => {
        if (!role.startsWith('@')) return [role];
        const id = await this.#idOf(path, role.slice(1));
        return id === undefined ? [] : [`@${id}`];
      }),
    );
    return found.flat();
  }

  async #remove(path: string, name: string): Promise<void> {
    const id = await this.#idOf(path, name);
    if (id !== undefined) await this.#ask('DELETE', `${path}/${id}`);
  }

  async #host(name: string, router: RouterName): Promise<void> {
    if ((await this.#idOf('/services', name)) !== undefined) return;
    const service = { host: router, address: '127.0.0.1', port: this.overlay.echo.port, encryptionRequired: false };
    await this.overlay.simulator.lab.service(name, service);
  }

  async #idOf(path: string, name: string): Promise<string | undefined> {
    const { data } = await this.#ask('GET', `${path}?filter=${encodeURIComponent(`name="${name}"`)}`);
    return (data as readonly Entity[])[0]?.id;
  }

  /** Rejections are answers, too, but the controller must not fail. */
  async #ask(method: string, path: string, body?: object): Promise<ApiAnswer> {
    const answer = await this.api.manage(method, path, body);
    if (answer.status >= 400)
      this.#problems.push(`${method} ${path.replace(/\?.*/, '')}: ${answer.status} ${answer.text}`);
    return answer;
  }

  #disconnect(name: RouterName): void {
    if (this.overlay.simulator.lab.network().routers.some((router) => router.name === name && router.online))
      this.overlay.simulator.lab.faults.disconnect(name);
  }

  async #stop(name: RouterName, drain: number): Promise<void> {
    const running = this.#running.get(name);
    this.#running.delete(name);
    await running?.router.close({ drain });
  }

  async #start(name: RouterName): Promise<void> {
    const router = this.routers.find((each) => each.name === name);
    if (!router || this.#running.has(name)) return;
    router.router = await this.overlay.startRouter(router.configFile);
    this.#running.set(name, router);
  }

  /** As after a crash of the process: the data is that of the file. */
  async #restart(): Promise<void> {
    await this.api.close();
    await this.overlay.simulator.close();
    await this.overlay.restart({ data: this.#data, password: PASSWORD });
    this.api = new ApiClient(this.overlay.simulator);
    this.#hasSnapshot = false;
  }
}
