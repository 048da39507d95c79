// The simulator's rooms behind its control channels, without sockets: a test passes messages of a router to their
// handlers and sees the answers. The network has two routers, an identity, a service and the policies between them.
//
//   identity `client` (dials, hosts) ─ router r1 ═ link `l1` ═ router r2 ─ terminator `host` ─ service `echo`

import { IdSource } from '#lib/ids.ts';
import { silentLog } from '#lib/log/log.ts';
import { IoContext } from '#lib/net/io-context.ts';
import { seededRandom } from '#lib/random.ts';
import { VirtualClock } from '#lib/time/clock.ts';
import type { Channel } from '#wire/channel/channel.ts';
import { ownVersionInfo } from '#wire/channel/version-info.ts';
import { Frame } from '#wire/frame.ts';
import { asReply, type HeaderEntries, Message } from '#wire/message.ts';
import { Access } from '../../../controller-sim/access/access.ts';
import { ServiceChanges } from '../../../controller-sim/access/service-changes.ts';
import { Activity } from '../../../controller-sim/auth/activity.ts';
import { Revocations } from '../../../controller-sim/auth/tokens/revocations.ts';
import { Cluster } from '../../../controller-sim/cluster/cluster.ts';
import type { ControlContext } from '../../../controller-sim/control-channel/context.ts';
import { DataModelFeed } from '../../../controller-sim/control-channel/data-model/data-model-feed.ts';
import { ModelSets } from '../../../controller-sim/control-channel/data-model/model-sets.ts';
import { HANDLERS } from '../../../controller-sim/control-channel/handlers.ts';
import { LegacySessions } from '../../../controller-sim/control-channel/legacy-sessions.ts';
import { Body } from '../../../controller-sim/entities/body.ts';
import { baseFields } from '../../../controller-sim/entities/common.ts';
import { plainIdentity, routerIdentity } from '../../../controller-sim/entities/identity.ts';
import {
  edgeRouterPolicyRules,
  serviceEdgeRouterPolicyRules,
  servicePolicyRules,
} from '../../../controller-sim/entities/policy.ts';
import { createTransitRouter } from '../../../controller-sim/entities/router.ts';
import { createService } from '../../../controller-sim/entities/service.ts';
import type { ConnectedRouter } from '../../../controller-sim/network/connected-router.ts';
import { Network } from '../../../controller-sim/network/network.ts';
import type { NetworkEvent } from '../../../controller-sim/network/network-events.ts';
import { Authority } from '../../../controller-sim/pki/authority.ts';
import { Tokens } from '../../../controller-sim/pki/tokens.ts';
import type { ApiSession } from '../../../controller-sim/state/kinds/api-session.ts';
import type { Session } from '../../../controller-sim/state/kinds/session.ts';
import { State } from '../../../controller-sim/state/state.ts';
import { MemoryStore } from '../../../controller-sim/state/store/memory-store.ts';
import { SharedMemory } from '../../../controller-sim/state/store/shared-memory.ts';
import type { Transaction } from '../../../controller-sim/state/transaction.ts';

const ISSUER = 'https://127.0.0.1:1280';
const ROUTE = 1005;
/** Milliseconds. */
const SESSION_LIFETIME = 30 * 60_000;
/** No second factor is required. */
const COMPLETE = { isMfaRequired: false, isMfaComplete: false, requiredSignerId: null };

/** A connected router without a connection: the test sees the messages to it. */
export class FakeRouter {
  readonly router: ConnectedRouter;
  readonly sent: Message[] = [];
  /** Answers a Route. The default is the recorded success of the reference, without peer data. */
  answerRoute: (route: Message) => Message = () =>
    new Message(1022, [
      [1101, Buffer.from('00000000', 'hex')],
      [1102, Buffer.from([1])],
    ]);

  /** Answers all other requests; without it they fail. */
  answerOther: ((request: Message) => Message) | undefined;

  constructor(id: string, clock: VirtualClock) {
    const send = (message: Message) => this.sent.push(message) > 0;
    const channel = {
      send,
      trySend: send,
      reply: (request: Message, answer: Message) => send(asReply(request, answer)),
      request: (message: Message) => {
        send(message);
        const answer = message.contentType === ROUTE ? this.answerRoute : this.answerOther;
        if (!answer) return Promise.reject(new Error('no answer'));
        return Promise.resolve(asReply(message, answer(message)));
      },
      close: () => undefined,
      underlays: [],
      isClosed: false,
    };
    this.router = {
      id,
      channel: channel as unknown as Channel,
      version: ownVersionInfo('0.0.0'),
      capabilities: new Set(),
      linkListeners: [],
      supportedProtocols: {},
      hostname: '',
      syncStatus: 'SYNC_HELLO',
      identities: new Set(),
      connectedAt: clock.now(),
      remoteAddress: '127.0.0.1',
    };
  }

  /** The messages of a content type so far. */
  of(type: number): Message[] {
    return this.sent.filter(({ contentType }) => contentType === type);
  }
}

export class ControlRoom implements Disposable {
  readonly clock: VirtualClock;
  readonly context: ControlContext;
  readonly events: NetworkEvent[] = [];
  readonly r1: FakeRouter;
  readonly r2: FakeRouter;
  readonly #owned: readonly { close(): void }[];
  #sequence = 100;

  private constructor(clock: VirtualClock, context: ControlContext, owned: readonly { close(): void }[]) {
    this.clock = clock;
    this.context = context;
    this.#owned = owned;
    this.r1 = new FakeRouter('r1', clock);
    this.r2 = new FakeRouter('r2', clock);
    context.network.events.subscribe((event) => this.events.push(event));
  }

  static async open(): Promise<ControlRoom> {
    const clock = new VirtualClock(Date.parse('2026-01-01T00:00:00Z'));
    const random = seededRandom(1);
    const ids = new IdSource(random);
    const log = silentLog;
    const state = await State.open({ store: new MemoryStore(), clock, ids });
    const authority = await Authority.open({ state, clock, random }, []);
    const access = new Access(state);
    const serviceChanges = new ServiceChanges({ state, access, clock });
    const activity = new Activity({ state, clock, log, lifetime: SESSION_LIFETIME });
    const network = new Network({ state, clock, ids, random, log });
    const sets = new ModelSets(state, access, authority);
    const feed = new DataModelFeed({ state, sets, clock });
    const sessions = new LegacySessions(state, network, ids);
    const revocations = new Revocations({ state, clock, log });
    const controlAddress = 'tls:127.0.0.1:1280';
    const tokens = new Tokens({
      authority,
      clock,
      issuer: ISSUER,
      issuers: () => [ISSUER],
      controlAddresses: () => [controlAddress],
    });
    const self = { id: 'ctrl1', controlAddress, baseUrl: ISSUER, certPem: '' };
    const cluster = await Cluster.join({ registry: new SharedMemory().open().registry, clock, log }, self);
    const shared = {
      state,
      access,
      serviceChanges,
      activity,
      sessionLifetime: SESSION_LIFETIME,
      authority,
      network,
      feed,
      sessions,
      tokens,
      revocations,
      cluster,
      clock,
      wireClock: clock,
      io: new IoContext({ clock }),
      log,
    };
    const context = { ...shared, unverified: new Map(), controllerId: 'ctrl1', controlAddress };
    const room = new ControlRoom(clock, context, [
      revocations,
      sessions,
      feed,
      sets,
      network,
      activity,
      serviceChanges,
      access,
    ]);
    await state.change(addEntities);
    for (const { router } of [room.r1, room.r2]) network.attach(router);
    room.#addLink();
    for (const router of [room.r1, room.r2]) router.sent.length = 0;
    return room;
  }

  [Symbol.dispose](): void {
    for (const room of this.#owned) room.close();
  }

  /** Passes a message of a router to its handler, and returns the messages that this router got. */
  async receive(from: FakeRouter, message: Message): Promise<Message[]> {
    const before = from.sent.length;
    message.sequence = this.#sequence++;
    const decoded = Message.fromFrame(new Frame(message.encode()));
    await HANDLERS.get(message.contentType)?.(this.context, from.router, decoded);
    return from.sent.slice(before);
  }

  /** Passes a message, and returns its only reply. */
  async ask(from: FakeRouter, type: number, body: Buffer | string, headers: HeaderEntries = []): Promise<Message> {
    const message = new Message(type, headers, body);
    const sent = await this.receive(from, message);
    const [reply, ...others] = sent.filter(({ replyFor }) => replyFor === message.sequence);
    if (!reply || others.length > 0) throw new Error(`message ${type}: ${reply ? 'several replies' : 'no reply'}`);
    return reply;
  }

  change(build: (transaction: Transaction) => void): Promise<void> {
    return this.context.state.change(build);
  }

  /** Stores a legacy API session and a session of the service `echo`, both with their ids as tokens. */
  async addSessions(type: 'Dial' | 'Bind', apiSession: string, session: string): Promise<void> {
    await this.change((transaction) => {
      const base = (id: string) => baseFields(transaction, id);
      const kept = { ...base(apiSession), token: apiSession, identityId: 'client', fingerprints: [], ...COMPLETE };
      transaction.put('apiSession', kept as unknown as ApiSession);
      const right = { apiSessionId: apiSession, identityId: 'client', serviceId: 'echo-id', type };
      transaction.put('session', { ...base(session), token: session, ...right } satisfies Session);
    });
  }

  /** An access token of the OIDC API for the identity `client`. */
  accessToken(claims: Record<string, unknown> = {}): Promise<string> {
    const iat = Math.floor(this.clock.now() / 1000);
    const fields = { iss: `${ISSUER}/oidc`, sub: 'client', iat, exp: iat + 600, jti: 'jti1', z_t: 'a', z_asid: 'as1' };
    return this.context.tokens.oidc({ ...fields, ...claims });
  }

  #addLink(): void {
    const ends = { source: 'r1', destination: 'r2', protocol: 'tls', dialAddress: 'tls:r2:6000' };
    this.context.network.reportLink({ id: 'l1', ...ends, iteration: 1, connections: [], connectionsIteration: 1 });
  }
}

function addEntities(transaction: Transaction): void {
  const body = (fields: Record<string, unknown>) => new Body(fields, 'create');
  for (const id of ['r1', 'r2']) {
    createTransitRouter(transaction, id, body({ name: id, fingerprint: `fingerprint-${id}` }), undefined);
    transaction.patch('router', id, { isEdge: true, isTunnelerEnabled: true, roleAttributes: [] });
    transaction.put('identity', routerIdentity(transaction, id, id));
  }
  transaction.put('identity', plainIdentity(transaction, 'client', 'client'));
  createService(transaction, 'echo-id', body({ name: 'echo', terminatorStrategy: 'smartrouting' }));
  for (const type of ['Dial', 'Bind']) {
    const roles = { identityRoles: ['#all'], serviceRoles: ['#all'], semantic: 'AnyOf' };
    servicePolicyRules.create(transaction, `policy-${type}`, body({ name: type, type, ...roles }));
  }
  const routers = { edgeRouterRoles: ['#all'], semantic: 'AnyOf' };
  edgeRouterPolicyRules.create(transaction, 'erp', body({ name: 'erp', ...routers, identityRoles: ['#all'] }));
  serviceEdgeRouterPolicyRules.create(transaction, 'serp', body({ name: 'serp', ...routers, serviceRoles: ['#all'] }));
  transaction.put('terminator', {
    ...baseFields(transaction, 'host'),
    serviceId: 'echo-id',
    routerId: 'r2',
    binding: 'edge',
    address: 'host',
    cost: 0,
    precedence: 'default',
    instanceId: '',
    instanceSecret: '',
    hostId: 'client',
    peerData: [],
  });
}
