// Waits until the routers of this process are as the controller wants them: connected, with the latest data model, with
// a link between each two, with the terminators of what they host, and without circuits that have ended. The state of
// routers alone is not enough: right after a change it is the state from before.

import { ProjectError } from '#lib/errors.ts';
import { parseAddress } from '#lib/net/address.ts';
import { nextTurn } from '#lib/slices.ts';
import type { Clock } from '#lib/time/clock.ts';
import { formatDuration } from '#lib/time/duration.ts';
import { validity } from '#pki/certificate-chain.ts';
import { leafOf } from '#pki/certificates.ts';
import type { DataModelFeed } from '../../control-channel/data-model/data-model-feed.ts';
import type { Router } from '../../state/kinds/router.ts';
import type { Service } from '../../state/kinds/service.ts';
import type { Faults } from '../faults/faults.ts';
import { waitOf } from '../input.ts';
import type { Proxies } from '../proxies/proxies.ts';
import type { Finding } from '../why/finding.ts';
import { explainLink } from '../why/link.ts';
import { explainWhy, type WhyComponents } from '../why/why.ts';

/** Milliseconds until a network that is not ready is an error. */
const PATIENCE = 15_000;
const MAX_PATIENCE = 50_000;
/** Milliseconds between two looks. */
const INTERVAL = 5;
/** Problems in an error. */
const MAX_LISTED = 5;

/** The state of a router, as it says itself. */
export interface RouterState {
  readonly id: string;
  readonly closing: boolean;
  readonly renewing: boolean;
  readonly controllers: readonly { readonly isResponsive: boolean }[];
  readonly notConnected: readonly { readonly error?: string }[];
  readonly dataModel?: { readonly index: number; readonly timeline: string } | undefined;
  readonly links: readonly {
    readonly id: string;
    readonly peerId: string;
    readonly dialed: boolean;
    readonly connections: readonly { readonly localAddr: string }[];
  }[];
  readonly wantedLinks: readonly { readonly peerId: string; readonly lastError?: string }[];
  readonly terminators: readonly { readonly id: string; readonly binding: string; readonly state: string }[];
}

/** A router that runs beside the simulator. */
export interface LabRouter {
  readonly name: string;
  describe(): RouterState;
  /** The bytes in both directions of each circuit whose client is at this router, by circuit id. */
  circuitBytes(): ReadonlyMap<string, number>;
}

export interface ReadyOptions {
  /** Milliseconds, or a duration such as `30s`; default 15 seconds, at most 50 seconds. */
  readonly timeout?: number | string;
}

export interface ReadinessComponents extends WhyComponents {
  readonly dataModel: Pick<DataModelFeed, 'position'>;
  readonly faults: Pick<Faults, 'inForce'>;
  readonly proxies: Pick<Proxies, 'carriesLink'>;
  readonly wireClock: Clock;
}

/** The network was not ready in time; the message says what is missing, why, and the remedies. */
export class NotReadyError extends ProjectError {
  constructor(message: string) {
    super('NOT_READY', message, { retriable: true });
  }
}

interface Look {
  readonly name: string;
  readonly state: RouterState;
  readonly circuits: Iterable<string>;
}

interface Problem {
  readonly text: string;
  /** The findings of `why`; they are made only for an error. */
  readonly why?: () => readonly Finding[];
}

export class Readiness {
  readonly #components: ReadinessComponents;
  readonly #routers: readonly LabRouter[];

  constructor(components: ReadinessComponents, routers: readonly LabRouter[]) {
    this.#components = components;
    this.#routers = routers;
  }

  /** Resolves when all routers that are enabled and not closed are ready. Rejects with NotReadyError, InvalidError. */
  async whole({ timeout = PATIENCE }: ReadyOptions = {}): Promise<void> {
    await this.#until('the network is not ready', () => this.#problems(), waitOf('timeout', timeout, MAX_PATIENCE));
  }

  /**
   * Like `whole`, after a restore: it does not wait while a fault of control channels or links is in force, because the
   * network may not be whole then.
   */
  async restored(): Promise<void> {
    if (!this.#isDisturbed()) await this.whole();
  }

  /** Resolves when all routers that are connected have the latest data model. Rejects with NotReadyError. */
  async current(): Promise<void> {
    const { network } = this.#components;
    const problems = () =>
      this.#expected()
        .filter(({ state }) => network.routers.has(state.id))
        .flatMap((look) => this.#ofModel(look));
    await this.#until('the routers are not up to date', problems);
  }

  /**
   * Resolves when the connected routers have renewed the certificates that were due; while a fault of control channels
   * is in force it does not wait. Rejects with NotReadyError.
   */
  async renewed(): Promise<void> {
    const { network } = this.#components;
    if (this.#isDisturbed()) return;
    const problems = () =>
      this.#expected()
        .filter(({ state }) => network.routers.has(state.id))
        .flatMap((look) => this.#ofCertificate(look));
    await this.#until('the routers have not renewed their certificates', problems);
  }

  /** Resolves when a client of router `from` reaches the service at router `host`. Rejects with NotReadyError. */
  async hosted(service: Service, host: Router, from: string): Promise<void> {
    const problems = () => {
      const ends = this.#looks().filter(({ name }) => name === host.name || name === from);
      return [
        ...ends.flatMap((look) => this.#ofRouter(look)),
        ...(this.#isDisturbed() ? [] : this.#ofLinks(ends)),
        ...ends.flatMap((look) => (look.name === host.name ? this.#ofService(look, service, host) : [])),
      ];
    };
    await this.#until(`the service ${service.name} cannot be dialed`, problems);
  }

  /** Looks again in the next turns: what follows from a change is done at the end of its turn. */
  async #until(what: string, problems: () => readonly Problem[], patience = PATIENCE): Promise<void> {
    const { wireClock } = this.#components;
    const end = wireClock.monotonic() + patience;
    for (;;) {
      let found = problems();
      if (found.length === 0) {
        await nextTurn();
        await nextTurn();
        found = problems();
        if (found.length === 0) return;
      }
      if (wireClock.monotonic() > end)
        throw new NotReadyError(`${what} after ${formatDuration(patience)}: ${this.#described(found)}`);
      await wireClock.sleep(INTERVAL);
    }
  }

  #described(problems: readonly Problem[]): string {
    const texts = problems.slice(0, MAX_LISTED).map(({ text, why }) => {
      const reasons = new Set(why?.().flatMap(({ ok, message, remedy }) => (ok ? [] : [`${message} → ${remedy}`])));
      return [text, ...reasons].join(': ');
    });
    const rest = problems.length - texts.length;
    const faults = this.#components.faults.inForce().map(({ id, kind }) => `${id} (${kind})`);
    return [
      ...texts,
      ...(rest > 0 ? [`${rest} more`] : []),
      ...(faults.length > 0 ? [`faults in force: ${faults.join(', ')}`] : []),
    ].join('; ');
  }

  #isDisturbed(): boolean {
    return this.#components.faults.inForce().some(({ kind }) => kind === 'control' || kind === 'link');
  }

  #looks(): Look[] {
    return this.#routers.map((router) => ({
      name: router.name,
      state: router.describe(),
      circuits: router.circuitBytes().keys(),
    }));
  }

  /** Routers that a test has closed, disabled or deleted are not expected. */
  #expected(): Look[] {
    const { router } = this.#components.state.tables;
    return this.#looks().filter(({ state }) => !state.closing && router.get(state.id)?.disabled === false);
  }

  #problems(): Problem[] {
    const looks = this.#expected();
    return [
      ...looks.flatMap((look) => [...this.#ofRouter(look), ...this.#ofTerminators(look), ...this.#ofCircuits(look)]),
      ...this.#ofLinks(looks),
    ];
  }

  #ofRouter(look: Look): Problem[] {
    const { network } = this.#components;
    const { name, state } = look;
    if (state.closing) return [{ text: `the router ${name} is closed` }];
    const connected = network.routers.get(state.id);
    const isConnected =
      connected?.syncStatus === 'SYNC_DONE' &&
      !connected.channel.isClosed &&
      state.controllers.some(({ isResponsive }) => isResponsive);
    if (isConnected) return [...this.#ofCertificate(look), ...this.#ofModel(look)];
    const why = state.notConnected.flatMap(({ error }) => error ?? []).join(', ');
    return [{ text: `the router ${name} is not connected to the controller${why && ` (${why})`}` }];
  }

  #ofCertificate({ name, state }: Look): Problem[] {
    const { tables } = this.#components.state;
    const pem = tables.router.get(state.id)?.certPem;
    const problem = pem ? validity(leafOf(pem), this.#components.clock.now(), Number.POSITIVE_INFINITY) : undefined;
    if (problem !== undefined) return [{ text: `the router ${name} cannot connect again: ${problem}` }];
    return state.renewing ? [{ text: `the router ${name} renews its certificates` }] : [];
  }

  #ofModel({ name, state }: Look): Problem[] {
    const wanted = this.#components.dataModel.position;
    const { index, timeline } = state.dataModel ?? { index: 0, timeline: '' };
    if (timeline === wanted.timeline && BigInt(index) >= wanted.index) return [];
    return [{ text: `the router ${name} has the data up to change ${index}, and must have ${wanted.index}` }];
  }

  /** Those of the tunneler: hosts with an SDK keep theirs themselves. A router that drains has suspended its own. */
  #ofTerminators({ name, state }: Look): Problem[] {
    const { tables } = this.#components.state;
    const own = state.terminators.filter((each) => each.binding === 'tunnel' && each.state !== 'suspended');
    const ids = new Set(own.map(({ id }) => id));
    const missing = own.filter((each) => !isEstablished(each.state) || !tables.terminator.has(each.id));
    const unwanted = tables.terminator
      .referring('routerId', state.id)
      .filter(({ id, binding, hostId }) => binding === 'tunnel' && hostId === state.id && !ids.has(id));
    return [
      ...missing.map(({ id, state: is }) => ({ text: `the terminator ${id} of the router ${name} is ${is}` })),
      ...unwanted.map(({ id }) => ({ text: `the router ${name} no longer hosts the terminator ${id}` })),
    ];
  }

  #ofService({ state }: Look, service: Service, host: Router): Problem[] {
    const { tables } = this.#components.state;
    const isHosted = tables.terminator
      .referring('serviceId', service.id)
      .some(({ id }) => state.terminators.some((each) => each.id === id && isEstablished(each.state)));
    if (isHosted) return [];
    const question = { identity: host.id, service: service.id, type: 'Bind' } as const;
    const isKnown = tables.service.has(service.id) && tables.identity.has(host.id);
    const why = () => (isKnown ? explainWhy(this.#components, question).reasons : []);
    return [{ text: `the router ${host.name} does not host ${service.name}`, why }];
  }

  #ofCircuits({ name, circuits }: Look): Problem[] {
    const ended = [...circuits].filter((id) => !this.#components.network.circuits.get(id));
    return ended.map((id) => ({ text: `the circuit ${id} has ended, and is still open at the router ${name}` }));
  }

  #ofLinks(looks: readonly Look[]): Problem[] {
    return looks.flatMap((one, index) =>
      looks.slice(index + 1).flatMap((two) => (this.#isLinked(one, two) ? [] : [this.#noLink(one, two)])),
    );
  }

  /** Both routers and the controller have the link, and no fault has reset its connections. */
  #isLinked({ state: one }: Look, { state: two }: Look): boolean {
    return one.links.some((link) => {
      const other = two.links.find(({ id, peerId }) => id === link.id && peerId === one.id);
      const known = this.#components.network.links.get(link.id);
      if (link.peerId !== two.id || !other || !known) return false;
      const dialed = link.dialed ? link : other;
      return dialed.connections.every(({ localAddr }) => this.#isCarried(known.dialAddress, localAddr));
    });
  }

  #isCarried(dialAddress: string, localAddr: string): boolean {
    const port = portOf(dialAddress);
    const local = portOf(localAddr);
    if (port === undefined || local === undefined) return true;
    return this.#components.proxies.carriesLink(port, local) ?? true;
  }

  #noLink({ state: one, name }: Look, { state: two, name: peer }: Look): Problem {
    const { state, network } = this.#components;
    const dials = [
      ...one.wantedLinks.filter(({ peerId }) => peerId === two.id),
      ...two.wantedLinks.filter(({ peerId }) => peerId === one.id),
    ];
    const error = dials.find(({ lastError }) => lastError !== undefined)?.lastError;
    const [from, to] = [state.tables.router.get(one.id), state.tables.router.get(two.id)];
    return {
      text: `no link joins ${name} and ${peer}${error === undefined ? '' : ` (${error})`}`,
      why: () => (from && to ? explainLink(network, from, to).reasons : []),
    };
  }
}

/** A router whose connection was lost confirms its terminators: controllers keep them meanwhile. */
function isEstablished(state: string): boolean {
  return state === 'established' || state === 'unconfirmed';
}

/** Undefined for links over datagrams, and for unreadable addresses. */
function portOf(address: string): number | undefined {
  try {
    return parseAddress(address).port;
  } catch {
    return undefined;
  }
}
