// All controllers of the router: dials them, tracks connected ones, and selects one for a request. Rooms register
// handlers for content types before the start, and are notified when a controller connects or disconnects.
//
//   endpoints (file, else config) ──► ControllerDialer… ──► Controller… ──► handlers by content type
//   cluster members (1037) ──► setMembers ──► dialers added and removed, endpoints file

import PQueue from 'p-queue';
import { background } from '#lib/background.ts';
import { ClosedError, describeError, ProjectError } from '#lib/errors.ts';
import { Listeners } from '#lib/listeners.ts';
import type { Log } from '#lib/log/log.ts';
import type { Random } from '#lib/random.ts';
import { setOnce } from '#lib/set-once.ts';
import type { Clock } from '#lib/time/clock.ts';
import { formatDuration } from '#lib/time/duration.ts';
import { UnknownTypes } from '#wire/channel/unknown-types.ts';
import { HelloRejectedError } from '#wire/errors.ts';
import { ControlType, EdgeControlType } from '#wire/gen/numbers.ts';
import type { Message } from '#wire/message.ts';
import type { ControllerProblem } from '../interface/description.ts';
import { type ControlDialComponents, type ControlDialInit, dialController } from './control-dial.ts';
import type { Controller } from './controller.ts';
import { ControllerDialer } from './controller-dialer.ts';
import { type EndpointsFile, type KnownController, MAX_CONTROLLERS } from './endpoints-file.ts';

export type ControlHandler = (controller: Controller, message: Message) => void;

export interface ControllersComponents extends ControlDialComponents {
  clock: Clock;
  log: Log;
  random: Random;
  endpointsFile: EndpointsFile;
  /** For metrics: a dial failed that was not canceled. */
  onDialFailed?(error: unknown): void;
}

export interface ControllersInit extends ControlDialInit {
  /** `tls:host:port` of the configuration, used if the endpoints file has no controllers. */
  endpoints: readonly string[];
}

/** Controllers that are dialed at the same time: a handshake costs milliseconds of processor time. */
const MAX_DIALS = 10;

/** A router handles only those that its configuration needs: without SDK clients, for example, no sessions. */
const NAMED_TYPES: ReadonlySet<number> = new Set([...Object.values(ControlType), ...Object.values(EdgeControlType)]);

/** No controller is connected. */
export class NoControllerError extends ProjectError {
  constructor() {
    super('NO_CONTROLLER', 'no controller is connected', { retriable: true });
  }
}

export class Controllers {
  readonly #components: ControllersComponents;
  readonly #init: ControllersInit;
  readonly #handlers = new Map<number, ControlHandler>();
  readonly #onConnect: Listeners<Controller>;
  readonly #onDisconnect: Listeners<Controller>;
  readonly #onRejected: Listeners<Promise<void>[]>;
  readonly #connected = new Map<string, Controller>();
  readonly #dialers = new Set<ControllerDialer>();
  readonly #dialing = new PQueue({ concurrency: MAX_DIALS });
  readonly #unknownTypes: UnknownTypes;
  #leaderId: string | undefined;
  #everConnected = false;
  #unconnectedSince: number | undefined;
  #closed = false;

  constructor(components: ControllersComponents, init: ControllersInit) {
    this.#components = components;
    this.#init = init;
    this.#unconnectedSince = components.clock.monotonic();
    this.#unknownTypes = new UnknownTypes(components.log, 'controller');
    this.#onConnect = new Listeners('connected controllers', components.log);
    this.#onDisconnect = new Listeners('disconnected controllers', components.log);
    this.#onRejected = new Listeners('rejected certificates', components.log);
  }

  /** Sets the only handler of a content type. Call before `start`. */
  on(contentType: number, handler: ControlHandler): void {
    setOnce(this.#handlers, contentType, handler, 'the control channel');
  }

  /** Called for each controller that connects, before any of its messages. */
  onConnect(listener: (controller: Controller) => void): void {
    this.#onConnect.add(listener);
  }

  onDisconnect(listener: (controller: Controller) => void): void {
    this.#onDisconnect.add(listener);
  }

  /** Called when a controller rejects the certificate in use. The next dial waits for the promises that it adds. */
  onRejected(listener: (pending: Promise<void>[]) => void): void {
    this.#onRejected.add(listener);
  }

  /** Starts to dial and resolves without waiting for a connection. */
  async start(): Promise<void> {
    const remembered = await this.#components.endpointsFile.load();
    const configured = this.#init.endpoints.map((address) => ({ id: '', endpoints: [{ address, groups: [] }] }));
    for (const known of remembered.length > 0 ? remembered : configured) this.#startDialer(known);
  }

  /** Whether a control channel was ever established; `ctrl.startupTimeout` depends on it. */
  get everConnected(): boolean {
    return this.#everConnected;
  }

  /** Monotonic milliseconds since which no controller is connected; undefined while one is. */
  get unconnectedSince(): number | undefined {
    return this.#unconnectedSince;
  }

  /** The connected controllers, in no particular order. */
  get all(): Controller[] {
    return [...this.#connected.values()];
  }

  byId(id: string): Controller | undefined {
    return this.#connected.get(id);
  }

  /** Ids of all known controllers, connected or not. */
  get knownIds(): string[] {
    return [...this.#dialers].map((dialer) => dialer.id).filter((id) => id !== '');
  }

  /**
   * The controller for requests that any can answer: connected, then responsive, then fastest. @throws
   * NoControllerError
   */
  get best(): Controller {
    const [best] = this.all.sort(byPreference);
    if (!best) throw new NoControllerError();
    return best;
  }

  /** The controller for changes: the leader if it is responsive, else the best. @throws NoControllerError */
  get leader(): Controller {
    const leader = this.#leaderId === undefined ? undefined : this.#connected.get(this.#leaderId);
    return leader?.isResponsive ? leader : this.best;
  }

  /** The inspection `router-controllers`. */
  inspect() {
    const controllers = this.all.map((controller) => {
      const { id, isConnected, isResponsive, address, latency, version, channel } = controller;
      return [
        id,
        {
          controllerId: id,
          connected: isConnected,
          responsive: isResponsive,
          address,
          latency: formatDuration(latency / 1e6),
          version: version.version,
          timeSinceLastContact: formatDuration(channel.unanswered),
          isLeader: id === this.#leaderId,
        },
      ] as const;
    });
    const others = this.notConnected.map(({ id, problem, endpoints }) => [
      id || endpoints.join(', '),
      {
        controllerId: id,
        connected: false,
        responsive: false,
        address: problem?.endpoint ?? endpoints[0] ?? '',
        latency: '',
        version: '',
        timeSinceLastContact: '',
        isLeader: id !== '' && id === this.#leaderId,
        ...problem,
      },
    ]);
    return { leaderId: this.#leaderId ?? '', controllers: Object.fromEntries([...controllers, ...others]) };
  }

  /** Known controllers without a connection, and why. The id is empty until one has sent it. */
  get notConnected(): { id: string; endpoints: readonly string[]; problem: ControllerProblem | undefined }[] {
    const waiting = [...this.#dialers].filter(({ id, endpoints }) => !this.#connectedAs(id, endpoints));
    return waiting.map(({ id, endpoints, problem }) => ({ id, endpoints, problem }));
  }

  setLeader(id: string): void {
    if (this.#leaderId === id) return;
    this.#components.log.info({ previous: this.#leaderId, leader: id }, 'cluster leader changed');
    this.#leaderId = id;
  }

  /**
   * Sets the members of the cluster: dials unknown ones; with `remove`, disconnects and removes missing ones. Saves the
   * endpoints file.
   */
  setMembers(members: readonly KnownController[], options: { remove: boolean }): void {
    if (this.#closed) return;
    for (const dialer of [...this.#dialers]) {
      if (!options.remove || members.some((member) => isSame(dialer, member))) continue;
      this.#remove(dialer);
    }
    // Controllers that dialed this router may have no dialer.
    if (options.remove)
      for (const { id, channel } of this.all) if (!members.some((member) => member.id === id)) channel.close();
    for (const member of members) {
      if (member.endpoints.length === 0) continue; // without a new address, the known ones stay valid
      const dialer = [...this.#dialers].find((each) => isSame(each, member));
      if (!dialer) {
        if (this.#dialers.size < MAX_CONTROLLERS) this.#startDialer(member);
      } else {
        dialer.id = member.id;
        dialer.move(member.endpoints.map((endpoint) => endpoint.address));
      }
    }
    background(this.#components.log, 'save endpoints', this.#components.endpointsFile.save(this.#known(members)));
  }

  /** A controller announced that it has moved: dials it at `address` from now on, also after a restart. */
  moveController(id: string, address: string): void {
    const dialer = [...this.#dialers].find((each) => each.id === id);
    if (!dialer) return;
    dialer.move([address]);
    background(this.#components.log, 'save endpoints', this.#components.endpointsFile.save(this.#known([])));
  }

  /**
   * Registers a controller that dialed this router, before its connection joins the channel. Returns false if it is
   * already connected, or if the router is stopping; the caller then closes the connection.
   */
  accept(controller: Controller): boolean {
    if (this.#closed || this.#connected.has(controller.id)) return false;
    this.#register(controller);
    setImmediate(() => {
      if (controller.isConnected) this.#announce(controller);
    });
    return true;
  }

  /** Stops dialing, closes all channels, and waits for a write of the endpoints file in progress. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const dialer of this.#dialers) dialer.stop();
    this.#dialers.clear();
    const open = this.all;
    for (const controller of open) controller.channel.close();
    await Promise.all([
      ...open.map((controller) => controller.channel.closed),
      this.#components.endpointsFile.settled(),
    ]);
  }

  /** The members and the other known controllers. Members without addresses keep the known ones. */
  #known(members: readonly KnownController[]): KnownController[] {
    const dialers = [...this.#dialers];
    const addressed = members.filter(({ endpoints }) => endpoints.length > 0);
    const others = dialers.filter(({ id }) => id !== '' && !addressed.some((member) => member.id === id));
    return [
      ...addressed,
      ...others.map((dialer) => ({
        id: dialer.id,
        endpoints: dialer.endpoints.map((address) => ({ address, groups: [] })),
      })),
    ];
  }

  #startDialer(known: KnownController): void {
    const { clock, log, random } = this.#components;
    const dialer = new ControllerDialer(
      {
        clock,
        log,
        random,
        connect: (endpoint, signal) => this.#connect(endpoint, signal),
        connected: (id, endpoints) => this.#connectedAs(id, endpoints),
      },
      known.id,
      known.endpoints.map((endpoint) => endpoint.address),
    );
    this.#dialers.add(dialer);
    dialer.start();
  }

  #connectedAs(id: string, endpoints: readonly string[]): Controller | undefined {
    return this.#connected.get(id) ?? this.all.find((controller) => endpoints.includes(controller.address));
  }

  #remove(dialer: ControllerDialer): void {
    this.#components.log.info(
      { controller: dialer.id, endpoints: dialer.endpoints },
      'controller is no longer a member of the cluster',
    );
    dialer.stop();
    this.#dialers.delete(dialer);
  }

  async #connect(endpoint: string, signal: AbortSignal): Promise<{ id: string; controller: Controller | undefined }> {
    const { controller, open } = await this.#dial(endpoint, signal);
    if (this.#closed || signal.aborted) {
      open();
      controller.channel.close();
      throw new ClosedError('the set of controllers');
    }
    const { id } = controller;
    if (this.#connected.has(id)) {
      open();
      controller.channel.close();
      return { id, controller: undefined };
    }
    this.#register(controller);
    open();
    this.#announce(controller);
    return { id, controller };
  }

  /** The channel is ready: listeners send the router's state to the controller. Its messages are handled after that. */
  #announce(controller: Controller): void {
    this.#onConnect.call(controller);
    controller.channel.setReading(true);
  }

  async #dial(endpoint: string, signal: AbortSignal): ReturnType<typeof dialController> {
    const { identity, log } = this.#components;
    const { cert } = identity.clientContext();
    try {
      return await this.#dialing.add(() => dialController(this.#components, this.#init, endpoint, signal), { signal });
    } catch (error) {
      if (!signal.aborted) this.#components.onDialFailed?.(error);
      // Meanwhile another controller may have rejected the same certificate.
      if (error instanceof HelloRejectedError && identity.clientContext().cert === cert)
        await this.#rejected().catch((failure: unknown) =>
          log.warn({ error: describeError(failure) }, 'pending certificates cannot be used'),
        );
      throw error;
    }
  }

  async #rejected(): Promise<void> {
    const pending: Promise<void>[] = [];
    this.#onRejected.call(pending);
    await Promise.all(pending);
  }

  #register(controller: Controller): void {
    const { id, channel } = controller;
    // The first messages may have arrived together with the hello.
    channel.setReading(false);
    for (const [contentType, handler] of this.#handlers)
      channel.on(contentType, (message) => handler(controller, message));
    const { version } = controller.version;
    channel.onUnknown((type) => {
      if (!NAMED_TYPES.has(type)) this.#unknownTypes.received({ id, version }, type);
    });
    this.#connected.set(id, controller);
    this.#everConnected = true;
    this.#unconnectedSince = undefined;
    this.#components.log.info(
      { controller: id, endpoint: controller.address, version: controller.version.version },
      'controller connected',
    );
    void channel.closed.then((reason) => this.#unregister(controller, reason));
  }

  #unregister(controller: Controller, reason: Error | null): void {
    if (this.#connected.get(controller.id) !== controller) return;
    this.#connected.delete(controller.id);
    if (this.#connected.size === 0) this.#unconnectedSince = this.#components.clock.monotonic();
    const { log } = this.#components;
    const text = 'controller disconnected';
    // Operators watch for warnings; they expect this end.
    if (this.#closed) log.info({ controller: controller.id, reason: 'this router stops' }, text);
    else log.warn({ controller: controller.id, reason: reason ? describeError(reason) : 'closed' }, text);
    this.#onDisconnect.call(controller);
  }
}

function isSame(dialer: ControllerDialer, member: KnownController): boolean {
  if (dialer.id !== '' && member.id !== '') return dialer.id === member.id;
  return member.endpoints.some((endpoint) => dialer.endpoints.includes(endpoint.address));
}

function byPreference(a: Controller, b: Controller): number {
  return Number(b.isResponsive) - Number(a.isResponsive) || a.latency - b.latency;
}
