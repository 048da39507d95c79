// Synchronizes a connected router: hellos of edge routers, data model subscriptions, cluster members, and legacy
// sessions (reference fact: control channel, sections 4.1, 4.9 and 5.1).

import { create, toBinary } from '@bufbuild/protobuf';
import { nextTurn } from '#lib/slices.ts';
import { isSignedToken } from '#model/session-tokens.ts';
import { HIGH_LANE } from '#wire/channel/control-lanes.ts';
import { PROTOCOL_VERSION } from '#wire/channel/version-info.ts';
import { ProtocolError } from '#wire/errors.ts';
import {
  AlertsSchema,
  InspectRequestSchema,
  InspectResponseSchema,
  UpdateClusterLeaderSchema,
  UpdateCtrlAddressesSchema,
} from '#wire/gen/control_pb.js';
import {
  ApiSessionHeartbeatSchema,
  type ClientHello,
  ClientHelloSchema,
  ConnectEventsSchema,
  ServerHelloSchema,
  SubscribeToDataModelRequestSchema,
  ValidateSessionsRequestSchema,
} from '#wire/gen/edge_control_pb.js';
import { ControlType, EdgeControlHeader, EdgeControlType } from '#wire/gen/numbers.ts';
import { TRUE } from '#wire/header-values.ts';
import { Message } from '#wire/message.ts';
import type { ConnectedRouter } from '../../network/connected-router.ts';
import type { NetworkEvent } from '../../network/network-events.ts';
import type { ControlContext, ControlHandler } from '../context.ts';
import { storeReported } from './reported-state.ts';

/** Limit on tokens of one router that are verified at the same time; reference fact: routers send 1,000. */
const MAX_VERIFYING = 100_000;
/** Signatures that are verified, about a millisecond each at most, before other work continues. */
const TOKENS_OF_TURN = 20;
/** Connections in one report; reference fact: routers queue 100,000. Further ones are not published. */
const MAX_CONNECTS = 100_000;
/** Alerts in one message. Further ones are not published. */
const MAX_ALERTS = 1_000;
const verifyingTokens = new WeakMap<ConnectedRouter, number>();
/** A router's inspection of capabilities, and its answer. */
const CAPABILITY = 'capability';
const CAPABILITIES = JSON.stringify(['ziti.fabric', 'ziti.edge']);

export function sendServerHello({ channel }: ConnectedRouter): void {
  const body = toBinary(ServerHelloSchema, create(ServerHelloSchema, { version: PROTOCOL_VERSION }));
  const headers = [[EdgeControlHeader.RouterDataModel, TRUE]] as const;
  channel.trySend(new Message(EdgeControlType.ServerHello, headers, body), HIGH_LANE);
}

export function sendMembers({ cluster }: Pick<ControlContext, 'cluster'>, { channel }: ConnectedRouter): void {
  const { index, members } = cluster.membership;
  const update = create(UpdateCtrlAddressesSchema, {
    addresses: members.map(({ controlAddress }) => controlAddress),
    index,
    isLeader: cluster.isLeader,
    controllers: members.map(({ id, controlAddress }) => ({ id, endpoints: [{ address: controlAddress }] })),
  });
  channel.trySend(new Message(ControlType.UpdateCtrlAddresses, [], toBinary(UpdateCtrlAddressesSchema, update)));
}

/** Tells a router that this controller became the leader. */
export function sendLeadership({ cluster }: Pick<ControlContext, 'cluster'>, { channel }: ConnectedRouter): void {
  const update = create(UpdateClusterLeaderSchema, { index: cluster.membership.leaderIndex });
  channel.trySend(new Message(ControlType.UpdateClusterLeader, [], toBinary(UpdateClusterLeaderSchema, update)));
}

/** An edge router reports its addresses for SDKs. From now on it is synchronized. */
export const onClientHello: ControlHandler<'state' | 'feed' | 'sessions' | 'log'> = async (
  context,
  router,
  message,
) => {
  const { feed, sessions, log } = context;
  const hello = message.decode(ClientHelloSchema);
  router.hostname = hello.hostname;
  router.supportedProtocols = protocolsOf(hello);
  router.syncStatus = 'SYNC_DONE';
  feed.sendKeys(router);
  sessions.sendAll(router);
  const fields = { routerId: router.id, hostname: hello.hostname, protocols: router.supportedProtocols };
  log.info(fields, 'edge router synchronized');
  await storeReported(context, router);
};

export const onSubscribe: ControlHandler<'feed'> = ({ feed }, router, message) => {
  feed.subscribe(router, message.decode(SubscribeToDataModelRequestSchema));
};

export const onRequestMembers: ControlHandler<'cluster'> = (context, router) => sendMembers(context, router);

/** A client that is connected to a router uses its API session. */
export const onApiSessionHeartbeat: ControlHandler<'state' | 'sessions' | 'activity'> = (
  { state, sessions, activity },
  router,
  message,
) => {
  const { tokens } = message.decode(ApiSessionHeartbeatSchema);
  const unknown = tokens.filter((token) => {
    if (isSignedToken(token)) return false;
    const session = state.tables.apiSession.findBy('token', token);
    if (session) activity.note(session);
    return !session;
  });
  sessions.reject(router, unknown);
};

/** Routers name a session by its id, which its signed token carries; older ones name it by its token. */
export const onValidateSessions: ControlHandler<'state' | 'sessions' | 'tokens'> = async (
  { state, sessions, tokens },
  router,
  message,
) => {
  const { sessionTokens } = message.decode(ValidateSessionsRequestSchema);
  const { session } = state.tables;
  const unknown = new Set(sessionTokens.filter((each) => !session.has(each) && !session.findBy('token', each)));
  const [signed, invalid] = [[...unknown].filter(isSignedToken), [...unknown].filter((each) => !isSignedToken(each))];
  const verifying = (verifyingTokens.get(router) ?? 0) + signed.length;
  if (verifying > MAX_VERIFYING) throw new ProtocolError(`more than ${MAX_VERIFYING} tokens of sessions`);
  verifyingTokens.set(router, verifying);
  try {
    for (const [index, token] of signed.entries()) {
      if (index % TOKENS_OF_TURN === TOKENS_OF_TURN - 1) await nextTurn();
      if (router.channel.isClosed) return;
      if (!(await tokens.verifySession(token))) invalid.push(token);
    }
  } finally {
    verifyingTokens.set(router, (verifyingTokens.get(router) ?? 0) - signed.length);
  }
  sessions.rejectServiceSessions(router, invalid);
};

export const onRequestResync: ControlHandler<'sessions'> = ({ sessions }, router) => sessions.sendAll(router);

/**
 * Identities that connected to the router or disconnected. Unknown ones are ignored first: each identity that is looked
 * up costs time for each router.
 */
export const onConnectEvents: ControlHandler<'network' | 'state'> = ({ network, state }, router, message) => {
  const { events: all, fullState } = message.decode(ConnectEventsSchema);
  const events = all.filter(({ identityId: id }) => router.identities.has(id) || state.tables.identity.has(id));
  const named = events.map(({ identityId }) => identityId);
  const affected = new Set(fullState ? [...router.identities, ...named] : named);
  network.reportIdentities(affected, () => {
    if (fullState) router.identities.clear();
    for (const { identityId, isConnected } of events) {
      if (isConnected && state.tables.identity.has(identityId)) router.identities.add(identityId);
      else router.identities.delete(identityId);
    }
  });
  const connects: (NetworkEvent & { kind: 'connect' })[] = [];
  for (const { identityId, connectTimes } of events)
    for (const { connectTime, srcAddr, dstAddr } of connectTimes.slice(0, MAX_CONNECTS - connects.length)) {
      const at = Number(connectTime);
      connects.push({
        ...{ kind: 'connect', routerId: router.id, identityId },
        ...{ sourceAddress: srcAddr, routerAddress: dstAddr, at },
      });
    }
  for (const connect of connects.sort((one, other) => one.at - other.at)) network.events.emit(connect);
};

/** Problems that an operator can solve: they are published as events. */
export const onAlerts: ControlHandler<'network'> = ({ network }, router, message) => {
  for (const alert of message.decode(AlertsSchema).alerts.slice(0, MAX_ALERTS))
    network.events.emit({ kind: 'alert', routerId: router.id, alert });
};

export const onInspect: ControlHandler<never> = (_context, router, message) => {
  const { requestedValues } = message.decode(InspectRequestSchema);
  const values = requestedValues.includes(CAPABILITY) ? [{ name: CAPABILITY, value: CAPABILITIES }] : [];
  const body = toBinary(InspectResponseSchema, create(InspectResponseSchema, { success: true, values }));
  router.channel.reply(message, new Message(ControlType.InspectResponse, [], body));
};

/** Protocol to URL: `tls` to `tls://host:port`. */
function protocolsOf(hello: ClientHello): Record<string, string> {
  const urls = hello.listeners.flatMap(({ advertise }) =>
    advertise ? [[advertise.protocol, `${advertise.protocol}://${advertise.hostname}:${advertise.port}`] as const] : [],
  );
  return Object.fromEntries(urls);
}
