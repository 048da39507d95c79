// Control over the simulator's time, state and faults, a record of its requests, and explanations of its decisions, for
// tests; a controller has none of this.

import type { Log } from '#lib/log/log.ts';
import { TaskQueue } from '#lib/queue/task-queue.ts';
import type { AdvanceableClock, Clock } from '#lib/time/clock.ts';
import type { LabTopology } from '#schemas/api/gen/answers.ts';
import type { Cluster } from '../cluster/cluster.ts';
import type { Router } from '../state/kinds/router.ts';
import type { Transaction } from '../state/transaction.ts';
import { CircuitRates } from './circuit-rates.ts';
import type { Faults } from './faults/faults.ts';
import { requireFields, requireFlag, requireFlags } from './input.ts';
import type { Journal } from './journal/journal.ts';
import { LabClock } from './lab-clock.ts';
import { InvalidError } from './lab-error.ts';
import type { LabTraffic } from './lab-traffic.ts';
import { MemberFaults } from './member-faults.ts';
import { named } from './named.ts';
import { enrollIdentity, enrollmentToken, type IdentityFile, type IdentityOptions } from './network/identities.ts';
import { Readiness, type ReadinessComponents, type ReadyOptions } from './network/readiness.ts';
import { type LabRouters, type LabService, type NewService, serviceSeed } from './network/services.ts';
import { viewNetwork } from './network-view.ts';
import { OtherLabs, type OtherLabsComponents } from './other-labs.ts';
import type { Proxies } from './proxies/proxies.ts';
import type { ControllerClient } from './seed/controller/collections.ts';
import type { ControllerSeedOptions } from './seed/controller/seed-controller.ts';
import { exportNetwork, type SeedDocument } from './seed/export.ts';
import { planned } from './seed/plan.ts';
import type { SeedComponents } from './seed/seed.ts';
import type { Seeded, SeedOptions } from './seed/seeded.ts';
import { SharedSnapshots } from './shared-snapshots.ts';
import { LabSnapshots, type Restored, type RestoreOptions, START } from './snapshots.ts';
import type { WhatIf, WhatIfOptions } from './what-if.ts';
import { EndedSessions } from './why/ended-sessions.ts';
import type { Explanation } from './why/explanation.ts';
import { explainLink } from './why/link.ts';
import { explainLogin } from './why/login.ts';
import { explainPosture, type PostureOptions } from './why/posture.ts';
import { explainSession, type SessionComponents } from './why/session.ts';
import { explainWhy, requireSession, type WhyAnswer, type WhyComponents, type WhyQuestion } from './why/why.ts';

/** Comparisons of `whatIf` that wait: each copies the network, and runs alone. */
const MAX_WAITING_COMPARISONS = 16;

const NO_ROUTERS = 'no router runs in this process';
const WITH_ROUTERS = 'use `sim network` or startNetwork';

export interface LabComponents
  extends WhyComponents,
    SeedComponents,
    Pick<SessionComponents, 'activity' | 'sessionLifetime'>,
    Pick<ReadinessComponents, 'dataModel'> {
  readonly clock: AdvanceableClock;
  readonly wireClock: Clock;
  readonly traffic: LabTraffic;
  readonly cluster: Cluster;
  readonly peers: OtherLabsComponents['peers'];
  readonly log: Log;
  /** Closes the controller. */
  readonly close: () => Promise<void>;
}

export class Lab {
  readonly clock: LabClock;
  /** Those of this controller. */
  readonly snapshots: LabSnapshots;
  /** Those of all controllers. */
  readonly sharedSnapshots: SharedSnapshots;
  /** Faults of this controller as a member of a cluster. */
  readonly member: MemberFaults;
  readonly #components: LabComponents;
  readonly #ended: EndedSessions;
  readonly #rates: CircuitRates;
  readonly #comparisons: TaskQueue;
  #routers: LabRouters | undefined;
  #readiness: Readiness | undefined;

  constructor(components: LabComponents) {
    const { state, clock, wireClock } = components;
    this.#components = components;
    this.#ended = new EndedSessions(state);
    this.#rates = new CircuitRates(components);
    this.#comparisons = new TaskQueue({
      name: 'comparisons of rights',
      length: MAX_WAITING_COMPARISONS,
      workers: 1,
      clock: wireClock,
    });
    this.member = new MemberFaults({ state, clock: wireClock, close: components.close });
    const others = new OtherLabs(components);
    this.clock = new LabClock(clock, others, async () => this.#readiness?.renewed());
    const { faults } = this;
    const journal = { clear: () => this.#restartJournal() };
    const settled = async () => this.#readiness?.restored();
    this.snapshots = new LabSnapshots({ state, clock: this.clock, faults, journal, others, settled });
    this.sharedSnapshots = new SharedSnapshots({ cluster: components.cluster, snapshots: this.snapshots, others });
    others.serve(this);
  }

  close(): void {
    void this.#comparisons.close();
    this.#ended.close();
    this.#rates.close();
  }

  /** The requests of clients and the messages of routers. */
  get journal(): Journal {
    return this.#components.traffic.journal;
  }

  /** Whether the journal records the messages of links. */
  get recordsLinks(): boolean {
    return this.#components.traffic.links.isRecorded;
  }

  /**
   * From now on the journal records the messages of the links between routers of this process, or no longer; `reset`
   * and `restore` end it. Each payload and each acknowledgement is an entry at each router, without its data. @throws
   * InvalidError for a simulator without routers in its process: the links of others are encrypted
   */
  recordLinks(isOn = true): void {
    requireFlag('links', isOn);
    if (isOn && !this.#routers)
      throw new InvalidError('links', `${NO_ROUTERS}, and the links of others are encrypted; ${WITH_ROUTERS}`, isOn);
    this.#components.traffic.links.record(isOn);
  }

  get faults(): Faults {
    return this.#components.traffic.faults;
  }

  /** TCP proxies, whose connections faults slow down, stall and cut. */
  get proxies(): Proxies {
    return this.#components.traffic.proxies;
  }

  /** The controllers, routers, links and circuits at this moment; each list has a limit, and totals. */
  network(): LabTopology {
    const { state, network, cluster, clock } = this.#components;
    const routers = this.#routers?.routers ?? [];
    const rates = this.#rates.read(new Map(routers.flatMap((router) => [...router.circuitBytes()])));
    const recordsLinks = this.#routers && this.recordsLinks;
    return viewNetwork({ state, network, cluster, journal: this.journal, recordsLinks, rates, now: clock.now() });
  }

  /**
   * Resolves when the routers of `startNetwork` are as the controller wants them: connected, with its latest data, with
   * a link between each two, with the terminators that they host, and without circuits that have ended. Routers that
   * are closed or disabled do not count. Rejects with NotReadyError, which says what is missing and why; with
   * InvalidError for a simulator without routers in its process.
   */
  async ready(options: ReadyOptions = {}): Promise<void> {
    requireFields(options, ['timeout']);
    if (!this.#readiness) throw new InvalidError('routers', `${NO_ROUTERS}; ${WITH_ROUTERS}`, '');
    await this.#readiness.whole(options);
  }

  /**
   * Returns to a snapshot: its state, its time, its faults, and an empty journal. `keep` names what stays as it is.
   * With routers in this process it resolves when they are `ready`, unless a fault of control channels or links is in
   * force then.
   * With several controllers, that of any of them; it returns all of them. The faults of others return if the API took
   * it, and are removed if this library did. Rejects with UnknownError, with InvalidError for an unknown word in
   * `keep`, and like `ready`.
   */
  restore(name: string, options: RestoreOptions = {}): Promise<Restored> {
    return this.snapshots.restore(name, options);
  }

  /** Returns to the state, the time and the faults after the start, and clears the journal. Rejects like `restore`. */
  reset(options: RestoreOptions = {}): Promise<Restored> {
    return this.snapshots.restore(START, options);
  }

  #restartJournal(): void {
    this.journal.clear();
    this.#components.traffic.links.record(false);
  }

  /** The time of day of the lab, for routers in this process: their certificates expire by it. */
  get calendar(): Clock {
    return this.#components.clock;
  }

  /** Routers in this process, which serve the services that are created afterwards. */
  attach(routers: LabRouters): void {
    const { faults, proxies } = this;
    this.#routers = routers;
    this.#readiness = new Readiness({ ...this.#components, faults, proxies }, routers.routers);
  }

  /**
   * Creates a service that everybody may dial and one router hosts. With routers in this process it resolves when the
   * service can be dialed. Rejects with InvalidError, UnknownError for an unknown router, SeedError for a name in use,
   * or NotReadyError.
   */
  async service(name: string, service: NewService): Promise<LabService> {
    const { state } = this.#components;
    await this.seed(serviceSeed(state, name, service));
    const created = named(state.tables.service, 'service', name);
    const router = named(state.tables.router, 'router', service.host);
    const opened = await this.#routers?.open(name, router.name);
    if (opened) await this.#readiness?.hosted(created, router, opened.from);
    return { id: created.id, name, host: router.name, ...(opened && { dial: opened.dial }) };
  }

  /**
   * The file of an enrolled identity, which any SDK loads. An unknown name creates the identity, with the role
   * attributes; of a known one, the earlier certificate and the one-time token are invalid afterwards. Routers of
   * `startNetwork` know it then. Rejects with InvalidError for the identity of a router, and with NotReadyError.
   */
  async identity(name: string, options: IdentityOptions = {}): Promise<IdentityFile> {
    requireFields(options, ['roleAttributes']);
    const { identity } = this.#components.state.tables;
    if (!identity.has(name) && !identity.findBy('name', name))
      await this.seed({ identities: [{ name, roleAttributes: options.roleAttributes ?? [] }] });
    const file = await enrollIdentity(this.#components, name);
    await this.#readiness?.current();
    return file;
  }

  /** The one-time token of a router or an identity. @throws UnknownError, InvalidError if it has enrolled */
  token(name: string): string {
    return enrollmentToken(this.#components.state.tables, name);
  }

  /**
   * Explains whether an identity may dial or bind a service now, and what is missing. Identities, services and routers
   * by id or name. @throws UnknownError for an unknown one, InvalidError for another type
   */
  why(question: WhyQuestion): WhyAnswer {
    return explainWhy(this.#components, question);
  }

  /** Explains whether an identity (id or name) can log in. @throws UnknownError */
  whyLogin(identity: string): Explanation {
    const { identity: identities } = this.#components.state.tables;
    return explainLogin(this.#components, named(identities, 'identity', identity));
  }

  /** Explains whether the API session with this id is valid, or why and when it ended. */
  whySession(session: string): Explanation {
    const { state, posture, activity, sessionLifetime, clock } = this.#components;
    const components = { tables: state.tables, posture, activity, sessionLifetime, ended: this.#ended };
    return explainSession({ ...components, now: clock.now() }, session);
  }

  /**
   * Explains whether an identity (id or name) passes the posture checks of its service policies: in one session, or in
   * any. @throws UnknownError for an unknown identity, or another identity's session
   */
  whyPosture(identity: string, options: PostureOptions = {}): Explanation {
    requireFields(options, ['session']);
    const { session } = options;
    const { state, access, posture, clock } = this.#components;
    const subject = named(state.tables.identity, 'identity', identity);
    if (session !== undefined) requireSession(this.#components, subject, session);
    return explainPosture({ tables: state.tables, access, posture, now: clock.now() }, subject, session);
  }

  /**
   * Explains whether a link joins two routers (ids or names). @throws UnknownError, InvalidError for the same router
   */
  whyLink(router: string, other: string): Explanation {
    const { state, network } = this.#components;
    const [one, two] = [router, other].map((each) => named(state.tables.router, 'router', each)) as [Router, Router];
    if (one.id === two.id) throw new InvalidError('other', 'a link joins two different routers', other);
    return explainLink(network, one, two);
  }

  /**
   * Creates the entities of a document that are missing, in one change: the document that `ziti ops export` writes, as
   * text (YAML or JSON) or as an object. `apply` also changes those that exist, `prune` deletes what the sections of
   * the document do not have, `plan` only answers the steps. Rejects with SeedError, which has every mistake; nothing
   * has then changed.
   */
  async seed(document: SeedDocument | string, options: SeedOptions = {}): Promise<Seeded> {
    requireFields(options, ['apply', 'prune', 'plan']);
    requireFlags({ ...options });
    const apply = await this.prepareSeed(document, options);
    const { state } = this.#components;
    return options.plan ? planned(state, apply) : state.changeInSlices(apply);
  }

  /**
   * Seeds another controller by its management API; this one must have the data of a new network. Rejects like `seed`,
   * with ApiRequestError, and with ProjectError that names the entry whose request failed.
   */
  async seedController(
    client: ControllerClient,
    document: SeedDocument | string,
    options: ControllerSeedOptions = {},
  ): Promise<Seeded> {
    const { seedController } = await import('./seed/controller/seed-controller.ts');
    return seedController(this.#components, client, document, options);
  }

  /**
   * Applies a document to a copy of the network, and compares who may use which service. Nothing changes. Rejects like
   * `seed`, with InvalidError beyond the limit on rights, and with QueueFullError if 16 others wait.
   */
  async whatIf(document: SeedDocument | string, options: WhatIfOptions = {}): Promise<WhatIf> {
    requireFields(options, ['prune']);
    return this.#comparisons.add(async () => {
      const { whatIf } = await import('./what-if.ts');
      return whatIf(this.#components, document, options);
    });
  }

  /** Checks a document, and returns the change that applies it in steps. `file` names the document in messages. */
  async prepareSeed(
    document: SeedDocument | string,
    options: SeedOptions & { readonly file?: string } = {},
  ): Promise<(transaction: Transaction) => Generator<void, Seeded>> {
    // The parser is loaded on demand, so that the simulator starts faster.
    const { prepareSeed } = await import('./seed/seed.ts');
    const prepared = await prepareSeed(this.#components, document, options);
    return (transaction) => prepared.apply(transaction);
  }

  /** The network as a document for `seed`: sorted, without secrets and without built-in entities. */
  export(): SeedDocument {
    const { state, clock } = this.#components;
    return exportNetwork(state.tables, clock.now());
  }
}
