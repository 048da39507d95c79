// Authenticated SDK clients with arbitrary messages: dials, binds, data, trace route, frames of circuits, in any order
// and form.

import { randomBytes } from 'node:crypto';
import { duplexPair } from 'node:stream';
import { create } from '@bufbuild/protobuf';
import { errorCode } from '#lib/errors.ts';
import { IdSource } from '#lib/ids.ts';
import { silentLog } from '#lib/log/log.ts';
import { IoContext } from '#lib/net/io-context.ts';
import { BufferBudget } from '#lib/queue/buffer-budget.ts';
import { BufferPool } from '#lib/queue/buffer-pool.ts';
import { seededRandom } from '#lib/random.ts';
import { VirtualClock } from '#lib/time/clock.ts';
import { Channel } from '#wire/channel/channel.ts';
import { ONLY_ANSWERS } from '#wire/channel/heartbeat.ts';
import { Underlay } from '#wire/connection/underlay.ts';
import { ProtocolError } from '#wire/errors.ts';
import { DataState_IdentitySchema, DataState_ServiceSchema } from '#wire/gen/edge_control_pb.js';
import { EdgeControlHeader, EdgeControlType, SdkHeader, SdkType, XgressType } from '#wire/gen/numbers.ts';
import { encodeBytesMap, encodeStringMap, encodeUint32, TRUE } from '#wire/header-values.ts';
import type { LaneName } from '#wire/lanes/lane-name.ts';
import type { LanePolicy } from '#wire/lanes/send-lanes.ts';
import { type HeaderEntries, Message } from '#wire/message.ts';
import { Payload } from '#wire/xgress-frames.ts';
import type { Access } from '../../../agent/access/access.ts';
import type { ApiSessions } from '../../../agent/access/api-session.ts';
import { DataModel } from '../../../agent/access/data-model.ts';
import type { LegacySessions } from '../../../agent/access/legacy-sessions.ts';
import type { Tokens } from '../../../agent/access/tokens.ts';
import { defaultXgressOptions } from '../../../agent/config/xgress-defaults.ts';
import type { Controllers } from '../../../agent/control/controllers.ts';
import { Forwarder } from '../../../agent/forwarder/forwarder.ts';
import { SdkClients, type SdkMetrics } from '../../../agent/ingress/edge/clients/sdk-clients.ts';
import { CONTROL_LANE, DATA_LANE } from '../../../agent/ingress/edge/clients/sdk-connection.ts';
import { SdkHosting } from '../../../agent/ingress/edge/hosting/sdk-hosting.ts';
import type { Terminators } from '../../../agent/ingress/terminators/terminators.ts';
import { MetricsRegistry } from '../../../agent/metrics/registry.ts';
import { CircuitEnds } from '../../../agent/xgress/circuit-ends.ts';
import type { FuzzTarget } from '../runner.ts';

const LIMITS = { maxHeaders: 64 * 1024, maxBody: 1024 * 1024 };
/** Bytes from one client: some hundred messages. */
const MAX_LENGTH = 32 * 1024;
/** Milliseconds: each input takes two minutes on the virtual clock, with all its circuits. */
const MAX_TIME_MS = 200;
const TOKEN = 'ey.token';
const CIRCUIT = 'circuit';

export function sdkTargets(): FuzzTarget[] {
  const router = sdkRouter();
  const rejects = (error: unknown) => error instanceof ProtocolError || errorCode(error) === 'TOO_MANY_REQUESTS';
  return [
    {
      name: 'sdk clients',
      seeds: conversations(),
      longest: MAX_LENGTH,
      slowest: MAX_TIME_MS,
      run: (input) => router.talk(input),
      rejects,
    },
  ];
}

/** The rooms of a router that serve SDK clients. Sessions, rights and the controller permit every request. */
function sdkRouter() {
  const clock = new VirtualClock();
  const log = silentLog;
  const model = new DataModel(log);
  model.identities.set('me', create(DataState_IdentitySchema, { id: 'me', name: 'me' }));
  model.services.set('echo', create(DataState_ServiceSchema, { id: 'echo', name: 'echo' }));
  const forwarder = new Forwarder({ clock, log, routerId: 'r' });
  const controller = {
    id: 'c',
    channel: { trySend: () => true },
    send: () => undefined,
    request: async () => circuitMade(forwarder),
  };
  const controllers = { all: [controller], best: controller, byId: () => controller } as unknown as Controllers;
  const metrics = new MetricsRegistry(clock, () => 0);
  const faulter = { reportEnd: () => undefined };
  const onUnroutable = () => undefined;
  const ends = new CircuitEnds({ buffers: new BufferPool(), clock, log, forwarder, metrics, faulter, onUnroutable });
  const claims = { sub: 'me', z_asid: 'session', exp: Number.MAX_SAFE_INTEGER, iat: 0, jti: 'token' };
  const session = {
    id: 'session',
    identityId: 'me',
    token: TOKEN,
    fingerprints: new Set<string>(),
    controllerId: undefined,
  };
  const agreed = { ...session, claims };
  const sessions = {
    find: async () => agreed,
    verify: async () => agreed,
    checkCertificate: () => undefined,
    endOf: () => undefined,
  } as unknown as ApiSessions;
  const serviceClaims = async (token: string) => ({
    sub: 'echo',
    jti: 'id',
    z_st: token.endsWith('bind') ? 'Bind' : 'Dial',
  });
  const common = {
    clock,
    log,
    controllers,
    model,
    access: { decide: () => ({ granted: true, failingChecks: [] }) } as unknown as Access,
    legacySessions: {
      onRemoved: () => () => undefined,
      isRemovedServiceSession: () => false,
    } as unknown as LegacySessions,
    tokens: { service: serviceClaims, totp: async () => 1 } as unknown as Tokens,
    forwarder,
    ends,
    options: defaultXgressOptions(),
    onUnroutable,
    acceptsCircuits: () => true,
  };
  const terminators = {
    add: () => undefined,
    remove: () => undefined,
    isEstablished: () => true,
    has: () => true,
    change: async () => undefined,
  } as unknown as Terminators;
  const hosting = new SdkHosting({ ...common, terminators, ids: new IdSource(seededRandom(1)) });
  const nothing = () => undefined;
  const counters: SdkMetrics = {
    connected: nothing,
    disconnected: nothing,
    rejected: nothing,
    invalidToken: nothing,
    dataDelayed: undefined,
    foreign: nothing,
  };
  const clients = new SdkClients({ ...common, sessions, hosting, metrics: counters, onConnections: nothing });
  const idle = clock.timers().join();

  /** A client sends `input` and disconnects. No state may remain. */
  async function talk(input: Buffer): Promise<void> {
    const [ours, theirs] = duplexPair();
    const channel = new Channel({
      name: 'client',
      peerId: 'me',
      connectionId: 'connection',
      io: new IoContext({ clock }),
      log,
      limits: LIMITS,
      lanes: new Map<LaneName, LanePolicy>([
        [DATA_LANE, { types: [''], queueLimit: 4, flows: new BufferBudget() }],
        [CONTROL_LANE, { types: [''], queueLimit: 256 }],
      ]),
      heartbeat: ONLY_ANSWERS,
    });
    clients.accept(channel, TOKEN, [], 1_000);
    channel.addUnderlay(new Underlay({ socket: theirs, io: new IoContext({ clock }) }));
    ours.resume();
    await settled();
    ours.end(input);
    await settled();
    await clock.advance(10_000);
    const reason = await channel.closed;
    await settled();
    await clock.advance(120_000);
    const timers = clock
      .timers()
      .filter((name) => name !== 'xgress')
      .join();
    const left = { clients: clients.count, ends: ends.count, circuits: forwarder.circuits.size };
    if (timers !== idle || Object.values(left).some((count) => count > 0))
      throw new Error(`left behind: ${JSON.stringify(left)}, timers ${timers}`);
    if (reason) throw reason;
  }

  return { talk };
}

/** Acts as the controller: routes the circuit here, and answers with its ingress address. */
function circuitMade(forwarder: Forwarder): Message {
  const id = `${CIRCUIT}-${randomBytes(4).toString('hex')}`;
  forwarder.circuits.open(id, 'c', {});
  return new Message(EdgeControlType.CreateCircuitV3Response, [
    [EdgeControlHeader.SessionToken, id],
    [EdgeControlHeader.Fingerprints, `${id}-ingress`],
    [EdgeControlHeader.PeerData, encodeBytesMap(new Map())],
    [EdgeControlHeader.TerminatorInstanceId, encodeStringMap({})],
  ]);
}

/** Whole conversations, so that mutated messages still have valid neighbours. */
function conversations(): Buffer[] {
  const id = (value: number) => [SdkHeader.ConnectionId, encodeUint32(value)] as const;
  const say = (type: number, headers: HeaderEntries = [], body = '') => new Message(type, headers, body).encode();
  const byName: HeaderEntries = [
    [SdkHeader.ServiceIdentifier, 'echo'],
    [SdkHeader.ServiceIdentifierType, Buffer.of(1)],
  ];
  const dial = (connection: number, more: HeaderEntries = []) =>
    say(SdkType.ConnectV2, [id(connection), ...byName, ...more]);
  const data = (connection: number, more: HeaderEntries = []) => say(SdkType.Data, [id(connection), ...more], 'hello');
  const bind = (connection: number, more: HeaderEntries = []) =>
    say(SdkType.Bind, [id(connection), ...more], 'ey.bind');
  const trace = (type: number, connection: number) =>
    say(type, [
      id(connection),
      [SdkHeader.TraceHopCount, encodeUint32(3)],
      [SdkHeader.TraceSourceRequestId, encodeUint32(9)],
    ]);
  return [
    [dial(1), data(1), data(1, [[SdkHeader.Flags, encodeUint32(1)]]), say(SdkType.StateClosed, [id(1)])],
    [say(SdkType.Connect, [id(2)], TOKEN), data(2), trace(SdkType.TraceRoute, 2), trace(SdkType.TraceRouteResponse, 2)],
    [
      dial(3, [[SdkHeader.UseXgressToSdk, TRUE]]),
      Payload.create(CIRCUIT, 0, 0, Buffer.from('x')).bytes,
      say(XgressType.Control, [], `\u0001${CIRCUIT}`),
      say(XgressType.Close, [], CIRCUIT),
    ],
    [
      bind(4, [
        [SdkHeader.Cost, Buffer.of(1, 0)],
        [SdkHeader.ListenerId, 'listener'],
        [SdkHeader.SupportsBindSuccess, TRUE],
      ]),
      say(SdkType.UpdateBind, [id(4), [SdkHeader.Precedence, Buffer.of(2)]], 'ey.bind'),
      say(SdkType.HealthEvent, [id(4), [SdkHeader.HealthStatus, TRUE]], 'ey.bind'),
      say(SdkType.Unbind, [id(4)], 'ey.bind'),
    ],
    [
      say(SdkType.UpdateToken, [], TOKEN),
      say(SdkType.PostureResponses),
      say(SdkType.Subscribe),
      say(SdkType.Unsubscribe),
    ],
    [dial(5), dial(5), bind(5), say(SdkType.StateClosed, [id(5)]), data(5), dial(5)],
  ].map((messages) => Buffer.concat(messages.map(numbered)));
}

/** Assigns a unique sequence number, as channels do. */
function numbered(message: Buffer, sequence: number): Buffer {
  const copy = Buffer.from(message);
  copy.writeInt32LE(sequence + 1, 8);
  return copy;
}

function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(() => setImmediate(() => setImmediate(resolve))));
}
