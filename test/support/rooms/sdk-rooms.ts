// The rooms of a router that serve SDK clients, without sockets, other routers or controllers. The controller of the
// test permits every request and creates circuits that end at this router.

import { duplexPair } from 'node:stream';
import { create, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import { IdSource } from '#lib/ids.ts';
import { silentLog } from '#lib/log/log.ts';
import { IoContext } from '#lib/net/io-context.ts';
import { BufferBudget } from '#lib/queue/buffer-budget.ts';
import { BufferPool } from '#lib/queue/buffer-pool.ts';
import { seededRandom } from '#lib/random.ts';
import { VirtualClock } from '#lib/time/clock.ts';
import { Channel, type MessageHandler } from '#wire/channel/channel.ts';
import { ONLY_ANSWERS } from '#wire/channel/heartbeat.ts';
import { Underlay } from '#wire/connection/underlay.ts';
import { type PostureResponseSchema, PostureResponsesSchema } from '#wire/gen/edge_client_pb.js';
import {
  DataState_ChangeSetSchema,
  type DataState_EventSchema,
  DataStateSchema,
  PolicyType,
  ServicePolicyRelatedEntityType,
} from '#wire/gen/edge_control_pb.js';
import { EdgeControlHeader, EdgeControlType, SdkHeader, SdkType } from '#wire/gen/numbers.ts';
import { encodeUint32 } from '#wire/header-values.ts';
import type { LanePolicy } from '#wire/lanes/send-lanes.ts';
import { type HeaderEntries, Message } from '#wire/message.ts';
import { Access } from '../../../agent/access/access.ts';
import { type ApiSession, ApiSessions } from '../../../agent/access/api-session.ts';
import { DataModel } from '../../../agent/access/data-model.ts';
import type { LegacySession, LegacySessions } from '../../../agent/access/legacy-sessions.ts';
import type { AccessClaims, Tokens } from '../../../agent/access/tokens.ts';
import { defaultXgressOptions } from '../../../agent/config/xgress-defaults.ts';
import type { Controllers } from '../../../agent/control/controllers.ts';
import { Faulter } from '../../../agent/forwarder/faulter.ts';
import { Forwarder } from '../../../agent/forwarder/forwarder.ts';
import { SdkClients } from '../../../agent/ingress/edge/clients/sdk-clients.ts';
import { CONTROL_LANE, DATA_LANE } from '../../../agent/ingress/edge/clients/sdk-connection.ts';
import { SdkHosting } from '../../../agent/ingress/edge/hosting/sdk-hosting.ts';
import type { WeightChange } from '../../../agent/ingress/terminators/terminator-change.ts';
import type { TerminatorSpec } from '../../../agent/ingress/terminators/terminator-spec.ts';
import type { Terminators } from '../../../agent/ingress/terminators/terminators.ts';
import { MetricsRegistry } from '../../../agent/metrics/registry.ts';
import { CircuitEnds } from '../../../agent/xgress/circuit-ends.ts';

const LIMITS = { maxHeaders: 64 * 1024, maxBody: 16 * 1024 * 1024 };
const PATIENCE = 10_000;
export const ACCESS_TOKEN = 'ey.access';
export const BIND_TOKEN = 'ey.bind';
/** The token of a session that the controller has pushed. */
export const LEGACY_TOKEN = 'legacy';
/** The identity of every client. */
export const ME = 'me';

type Reported = NonNullable<MessageInitShape<typeof PostureResponseSchema>['type']>;
/** An entity of the data model. */
export type Model = NonNullable<MessageInitShape<typeof DataState_EventSchema>['model']>;

/** A client that has connected to the rooms. */
export class RoomClient {
  readonly channel: Channel;
  /** Messages that answer no request. */
  readonly received: Message[] = [];
  /** Receive messages of these types in place of `received`. */
  readonly handlers = new Map<number, MessageHandler>();

  constructor(channel: Channel) {
    this.channel = channel;
    for (const type of Object.values(SdkType))
      channel.on(type, (message) => {
        const handler = this.handlers.get(type);
        if (handler) handler(message);
        else this.received.push(message);
      });
  }

  ask(
    type: number,
    connectionId: number,
    headers: HeaderEntries = [],
    body: string | Uint8Array = '',
  ): Promise<Message> {
    return this.channel.request(this.#message(type, connectionId, headers, body), { timeout: PATIENCE });
  }

  tell(type: number, connectionId: number, headers: HeaderEntries = [], body: string | Uint8Array = ''): void {
    this.channel.send(this.#message(type, connectionId, headers, body));
  }

  dial(connectionId: number, headers: HeaderEntries = []): Promise<Message> {
    return this.ask(SdkType.ConnectV2, connectionId, [[SdkHeader.ServiceIdentifier, 'echo'], ...headers]);
  }

  /** Reports posture data. */
  async report(...types: Reported[]): Promise<void> {
    const body = create(PostureResponsesSchema, { responses: types.map((type) => ({ type })) });
    this.tell(SdkType.PostureResponses, 0, [], toBinary(PostureResponsesSchema, body));
    await settled();
  }

  of(type: number): Message[] {
    return this.received.filter(({ contentType }) => contentType === type);
  }

  #message(type: number, connectionId: number, headers: HeaderEntries, body: string | Uint8Array): Message {
    return new Message(type, [[SdkHeader.ConnectionId, encodeUint32(connectionId)], ...headers], body);
  }
}

/** Lets messages pass in both directions. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
}

export type SdkRooms = ReturnType<typeof sdkRooms>;

/** The identity `me` may dial and bind the service `echo`. */
export function sdkRooms() {
  const clock = new VirtualClock(Date.now());
  const log = silentLog;
  const model = new DataModel(log);
  const change = (...models: Model[]) =>
    model.change(
      create(DataState_ChangeSetSchema, { index: model.index + 1n, changes: models.map((each) => ({ model: each })) }),
    );
  const atStart: readonly Model[] = [
    { case: 'identity', value: { id: ME, name: ME } },
    { case: 'service', value: { id: 'echo', name: 'echo' } },
    ...grant('dial', PolicyType.DIAL_POLICY),
    ...grant('bind', PolicyType.BIND_POLICY),
  ];
  change(...atStart);
  /** Sends the first state again, as the first of a new history. */
  const restartHistory = () =>
    model.replace(create(DataStateSchema, { events: atStart.map((each) => ({ model: each })), endIndex: 1n }));
  const forwarder = new Forwarder({ clock, log, routerId: 'r' });
  /** Holds back the controller's answers. */
  const controllerHolds: Promise<void>[] = [];
  /** Called with each circuit that the controller has created, before the router handles the answer. */
  const hooks: { onCircuit(circuitId: string): void } = { onCircuit: () => undefined };
  const sent: Message[] = [];
  const controller = {
    id: 'c',
    channel: { trySend: (message: Message) => sent.push(message) > 0 },
    send: (message: Message) => void sent.push(message),
    request: async (_request: Message, { signal }: { signal?: AbortSignal }) => {
      const aborted = new Promise<never>((_resolve, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
      });
      await Promise.race([Promise.all(controllerHolds), aborted]);
      const answer = circuitMade(forwarder);
      hooks.onCircuit(answer.string(EdgeControlHeader.SessionToken) ?? '');
      return answer;
    },
  };
  const controllers = { all: [controller], best: controller, byId: () => controller } as unknown as Controllers;
  const metrics = new MetricsRegistry(clock, () => 0);
  const faulter = new Faulter({ clock, log, controllers, faults: { mark: () => undefined } }, 0);
  const onUnroutable = () => undefined;
  const ends = new CircuitEnds({ buffers: new BufferPool(), clock, log, forwarder, metrics, faulter, onUnroutable });
  const claims: AccessClaims = { sub: ME, z_asid: 'session', exp: clock.now() / 1000 + 3_600, iat: clock.now() / 1000 };
  const removed = new Set<string>();
  const legacyListeners = new Set<() => void>();
  const legacySession = {
    token: LEGACY_TOKEN,
    id: 'legacy',
    identityId: ME,
    fingerprints: new Set(),
    controllerId: 'c',
  };
  const knownSessions = new Map([[LEGACY_TOKEN, legacySession as LegacySession]]);
  /** Tokens of the sessions in use. */
  const legacyInUse = new Set<string>();
  const legacySessions = {
    get: (token: string) => knownSessions.get(token),
    use: (token: string) => (legacyInUse.add(token), () => legacyInUse.delete(token)),
    onRemoved: (listener: () => void) => (legacyListeners.add(listener), () => legacyListeners.delete(listener)),
    isRemovedServiceSession: ({ token }: { token: string }) => removed.has(token),
  } as unknown as LegacySessions;
  const tokens = {
    access: async () => ({ ...claims }),
    service: async (token: string) => ({ sub: 'echo', z_st: token === BIND_TOKEN ? 'Bind' : 'Dial' }),
    totp: async () => clock.now(),
  } as unknown as Tokens;
  const sessions = new ApiSessions({ clock, model, legacySessions, tokens, identity: { roots: [] } });
  sessions.checkCertificate = (_session: ApiSession) => undefined;
  const kept = new Map<string, TerminatorSpec>();
  const changes: (WeightChange & { readonly id: string })[] = [];
  const terminators = {
    add: (spec: TerminatorSpec) => void kept.set(spec.id, spec),
    remove: (id: string) => void kept.delete(id),
    has: (id: string) => kept.has(id),
    isEstablished: () => false,
    change: (id: string, change: WeightChange) => void changes.push({ id, ...change }),
  } as unknown as Terminators;
  const common = {
    ...{
      clock,
      log,
      controllers,
      model,
      access: new Access(model),
      legacySessions,
      tokens,
      forwarder,
      ends,
      onUnroutable,
    },
    options: defaultXgressOptions(),
    acceptsCircuits: () => true,
  };
  const hosting = new SdkHosting({ ...common, terminators, ids: new IdSource(seededRandom(1)) });
  const nothing = () => undefined;
  const counted = { rejected: 0 };
  const clients = new SdkClients({
    ...common,
    sessions,
    hosting,
    onConnections: nothing,
    metrics: {
      ...{ connected: nothing, disconnected: nothing, invalidToken: nothing, foreign: nothing },
      rejected: () => void counted.rejected++,
      dataDelayed: undefined,
    },
  });

  const io = new IoContext({ clock });
  async function connect(token = ACCESS_TOKEN): Promise<RoomClient> {
    const [ours, theirs] = duplexPair();
    const channel = (name: string, data: LanePolicy) =>
      new Channel({
        ...{ name, peerId: name, connectionId: 'connection', io, log, limits: LIMITS, heartbeat: ONLY_ANSWERS },
        lanes: new Map([
          [DATA_LANE, data],
          [CONTROL_LANE, { types: [''], queueLimit: data.queueLimit }],
        ]),
        answerLane: CONTROL_LANE,
      });
    const served = channel('client', { types: [''], queueLimit: 64, flows: new BufferBudget() });
    clients.accept(served, token, [], 5_000);
    served.addUnderlay(new Underlay({ socket: theirs, io }));
    const client = new RoomClient(channel('router', { types: [''], queueLimit: 10_000 }));
    client.channel.addUnderlay(new Underlay({ socket: ours, io }));
    await settled();
    return client;
  }

  /** Makes the next hop of every circuit reject payloads. */
  function blockCircuits(): void {
    const hop = { acceptPayload: () => false, acceptAcknowledgement: () => true, acceptControl: () => true };
    for (const { id } of forwarder.circuits.values())
      forwarder.registerLink({ ...hop, address: `${id}-egress`, onceWritable: () => undefined });
  }

  /** Reports that a controller removed a service session. */
  function removeServiceSession(token: string): void {
    removed.add(token);
    for (const listener of legacyListeners) listener();
  }

  return {
    components: common,
    counted,
    ...{
      clock,
      model,
      change,
      forwarder,
      ends,
      clients,
      hosting,
      kept,
      changes,
      claims,
      sent,
      controllerHolds,
      hooks,
      tokens,
      legacyInUse,
    },
    connect,
    blockCircuits,
    removeServiceSession,
    restartHistory,
  };
}

/** A policy that contains `me` and `echo`. */
function grant(id: string, policyType: PolicyType): Model[] {
  return [
    { case: 'servicePolicy', value: { id, name: id, policyType } },
    members(id, ServicePolicyRelatedEntityType.RELATED_IDENTITY, [ME]),
    members(id, ServicePolicyRelatedEntityType.RELATED_SERVICE, ['echo']),
  ];
}

/** The policy `dial` or `bind` demands posture checks. */
export function demandOf(policyId: 'dial' | 'bind', checkIds: string[]): Model {
  return members(policyId, ServicePolicyRelatedEntityType.RELATED_POSTURE_CHECK, checkIds);
}

function members(
  policyId: string,
  relatedEntityType: ServicePolicyRelatedEntityType,
  relatedEntityIds: string[],
): Model {
  return { case: 'servicePolicyChange', value: { policyId, relatedEntityType, relatedEntityIds, add: true } };
}

/** Makes the list of services long. */
export function longConfig(): Model[] {
  const dataJson = JSON.stringify('x'.repeat(500_000));
  return [
    { case: 'configType', value: { id: 'type', name: 'type' } },
    { case: 'config', value: { id: 'config', name: 'config', typeId: 'type', dataJson } },
    { case: 'service', value: { id: 'echo', name: 'echo', configs: ['config'] } },
  ];
}

let circuits = 0;

/** Acts as the controller: routes the circuit here, and answers with its ingress address. */
function circuitMade(forwarder: Forwarder): Message {
  const id = `circuit-${++circuits}`;
  const [ingress, egress] = [`${id}-ingress`, `${id}-egress`];
  forwarder.circuits.open(id, 'c', {}).forwards.set(ingress, egress).set(egress, ingress);
  return new Message(EdgeControlType.CreateCircuitV3Response, [
    [EdgeControlHeader.SessionToken, id],
    [EdgeControlHeader.Fingerprints, ingress],
  ]);
}
