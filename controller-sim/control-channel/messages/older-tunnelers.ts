// Requests of the tunnelers of routers before 1.3, which act through a stored API session of the router's identity and
// sessions of services (reference facts: the edge control handlers of the reference's 2.1 controller).

import { create, toBinary } from '@bufbuild/protobuf';
import { describeError } from '#lib/errors.ts';
import { HIGH_LANE } from '#wire/channel/control-lanes.ts';
import {
  CreateApiSessionRequestSchema,
  type CreateApiSessionResponse,
  CreateApiSessionResponseSchema,
  CreateCircuitForServiceRequestSchema,
  CreateCircuitForServiceResponseSchema,
  CreateSessionResponseSchema,
  CreateTunnelTerminatorRequestSchema,
  CreateTunnelTerminatorResponseSchema,
  type EnvInfo,
  type SdkInfo,
  ServicesListSchema,
} from '#wire/gen/edge_control_pb.js';
import { EdgeControlType, EdgeErrorCode, RetryHint } from '#wire/gen/numbers.ts';
import { Message } from '#wire/message.ts';
import { newSessionToken } from '../../auth/birth.ts';
import { baseFields } from '../../entities/common.ts';
import { configsOfTypes, configTypeIds } from '../../entities/service-configs.ts';
import type { ConnectedRouter } from '../../network/connected-router.ts';
import type { PermissionType, Precedence } from '../../state/entity.ts';
import type { ApiSession } from '../../state/kinds/api-session.ts';
import type { Identity } from '../../state/kinds/identity.ts';
import type { Service } from '../../state/kinds/service.ts';
import type { Session } from '../../state/kinds/session.ts';
import type { Transaction } from '../../state/transaction.ts';
import type { ControlContext, ControlHandler } from '../context.ts';
import { endIfUnsent, requestedCircuit, responseFields } from './create-circuit.ts';
import { EdgeError, edgeErrorMessage } from './edge-error.ts';
import { checkTunneler, tunnelerIdentity } from './session-check.ts';
import { PRECEDENCES, putTerminator, wantedFields } from './terminators.ts';

/** reference fact: seconds before the end of an API session at which the router refreshes it. */
const REFRESH_AHEAD = 10;
/** The types of a session that the router did not ask for itself. */
const ALL_TYPES = ['all'];

/** The components for the sessions of a tunneler. */
type TunnelerComponents = Pick<ControlContext, 'state' | 'access' | 'activity' | 'clock' | 'sessionLifetime'>;

/** The API session that each connection has been told of. */
const announced = new WeakMap<ConnectedRouter, string>();

export const onCreateApiSession: ControlHandler<'state' | 'activity' | 'clock' | 'sessionLifetime'> = async (
  context,
  router,
  message,
) => {
  try {
    const request = message.decode(CreateApiSessionRequestSchema);
    const identity = tunnelerIdentity(context.state.tables, router.id, context.clock.now());
    const types = request.configTypes.length > 0 ? request.configTypes : ALL_TYPES;
    const apiSession = await ensureApiSession(context, router, identity, types, (transaction) =>
      describeTunneler(transaction, identity.id, request),
    );
    announced.set(router, apiSession.id);
    const body = toBinary(CreateApiSessionResponseSchema, describeSession(context, apiSession));
    router.channel.reply(message, new Message(EdgeControlType.CreateApiSessionResponse, [], body));
  } catch (error) {
    router.channel.reply(message, edgeErrorMessage(error));
  }
};

export const onCreateCircuitForService: ControlHandler<keyof TunnelerComponents | 'network'> = async (
  context,
  router,
  message,
) => {
  try {
    const request = message.decode(CreateCircuitForServiceRequestSchema);
    const { identity, service, sessions } = await ensureSessions(context, router, request, 'Dial');
    const created = await requestedCircuit(context, router, request, { identity, service });
    const response = create(CreateCircuitForServiceResponseSchema, { ...sessions, ...responseFields(created) });
    const body = toBinary(CreateCircuitForServiceResponseSchema, response);
    const success = new Message(EdgeControlType.CreateCircuitForServiceResponse, [], body);
    endIfUnsent(context, created, router.channel.reply(message, success, HIGH_LANE));
  } catch (error) {
    router.channel.reply(message, edgeErrorMessage(error));
  }
};

/**
 * The answer is not a reply. A router that already has the latest list gets none: the body is the `lastUpdate` of its
 * list, which it does not read.
 */
export const onListServices: ControlHandler<
  'state' | 'access' | 'serviceChanges' | 'activity' | 'clock' | 'log'
> = async (context, router, message) => {
  const { access, state, serviceChanges, log } = context;
  try {
    const identity = tunnelerIdentity(context.state.tables, router.id, context.clock.now());
    const { configTypes, createdAt } = await ensureApiSession(context, router, identity, ALL_TYPES);
    const lastUpdate = Buffer.from(new Date(serviceChanges.lastOf(identity, createdAt)).toISOString());
    if (lastUpdate.equals(message.body)) return;
    const services = access.servicesOf(identity.id).map((service) => ({
      id: service.id,
      name: service.name,
      permissions: access.permissions(identity.id, service.id),
      encryption: service.encryptionRequired,
      config: encodeJson(configsOfTypes(state.tables, service, identity, configTypes)),
      tags: encodeJson(service.tags),
    }));
    const list = create(ServicesListSchema, { lastUpdate, services });
    router.channel.trySend(new Message(EdgeControlType.ServicesList, [], toBinary(ServicesListSchema, list)));
  } catch (error) {
    log.warn({ routerId: router.id, error: describeError(error) }, 'services of a tunneler could not be listed');
  }
};

/** For the router's own tunneler. The router finds the terminator by its id: it does not wait for a reply. */
export const onCreateTunnelTerminatorV1: ControlHandler<keyof TunnelerComponents> = async (
  context,
  router,
  message,
) => {
  try {
    const request = message.decode(CreateTunnelTerminatorRequestSchema);
    const { identity, service, sessions } = await ensureSessions(context, router, request, 'Bind');
    await putTerminator(context, router, {
      ...wantedFields(request),
      id: request.address,
      serviceId: service.id,
      binding: 'tunnel',
      hostId: identity.id,
    });
    const { address: terminatorId, startTime } = request;
    const response = create(CreateTunnelTerminatorResponseSchema, { ...sessions, terminatorId, startTime });
    const body = toBinary(CreateTunnelTerminatorResponseSchema, response);
    router.channel.reply(message, new Message(EdgeControlType.CreateTunnelTerminatorResponse, [], body));
  } catch (error) {
    router.channel.reply(message, edgeErrorMessage(error));
  }
};

/** The API session of a router's identity: nobody else can have one. Notes its use. */
async function ensureApiSession(
  context: Pick<ControlContext, 'state' | 'activity' | 'clock'>,
  router: ConnectedRouter,
  { id: identityId }: Identity,
  types: readonly string[],
  change: (transaction: Transaction) => void = () => undefined,
): Promise<ApiSession> {
  const { state, activity, clock } = context;
  const apiSession = await state.change((transaction) => {
    tunnelerIdentity(transaction.tables, identityId, clock.now());
    change(transaction);
    const [known] = transaction.tables.apiSession.referring('identityId', identityId);
    const current = known && transaction.get('apiSession', known.id);
    if (current) return current;
    const created: ApiSession = {
      ...baseFields(transaction, state.ids.cuid()),
      token: newSessionToken(context, transaction),
      identityId,
      authenticatorId: '',
      configTypes: configTypeIds(state.tables, types),
      ipAddress: router.channel.underlays[0]?.remoteAddress ?? '',
      lastActivityAt: transaction.now,
      fingerprints: [],
      isMfaRequired: false,
      isMfaComplete: false,
      requiredSignerId: null,
      isCertExtendable: false,
      improperClientCertChain: false,
    };
    transaction.put('apiSession', created);
    return created;
  });
  activity.note(apiSession);
  return apiSession;
}

/** The sessions for a service, and their description for the router: of an API session only if it is news. */
async function ensureSessions(
  context: TunnelerComponents,
  router: ConnectedRouter,
  request: { readonly serviceName: string; readonly sessionId: string },
  type: PermissionType,
) {
  const { state } = context;
  const find = () => checkTunneler(context, router.id, state.tables.service.findBy('name', request.serviceName), type);
  const { identity } = find();
  const apiSession = await ensureApiSession(context, router, identity, ALL_TYPES);
  const service = find().service;
  const session = await ensureSession(context, apiSession, service, type, find);
  const isNews = announced.get(router) !== apiSession.id;
  announced.set(router, apiSession.id);
  return {
    identity,
    service,
    sessions: {
      ...(isNews && { apiSession: describeSession(context, apiSession) }),
      session: create(CreateSessionResponseSchema, { sessionId: session.id, token: session.token }),
    },
  };
}

/** `requireRight` throws if the right has ended: nothing would review a session that is stored after that. */
function ensureSession(
  { state }: Pick<ControlContext, 'state'>,
  { id: apiSessionId, identityId }: ApiSession,
  { id: serviceId }: Service,
  type: PermissionType,
  requireRight: () => unknown,
): Promise<Session> {
  return state.change((transaction) => {
    requireRight();
    if (!transaction.get('apiSession', apiSessionId))
      throw new EdgeError(EdgeErrorCode.InvalidApiSession, 'the API session has ended', { hint: RetryHint.StartOver });
    const known = transaction.tables.session
      .referring('apiSessionId', apiSessionId)
      .find((each) => each.serviceId === serviceId && each.type === type);
    const current = known && transaction.get('session', known.id);
    if (current) return current;
    const fields = { token: state.ids.uuid(), apiSessionId, identityId, serviceId, type };
    const created: Session = { ...baseFields(transaction, state.ids.cuid()), ...fields };
    transaction.put('session', created);
    return created;
  });
}

function describeSession(
  { state, clock, sessionLifetime }: Pick<ControlContext, 'state' | 'clock' | 'sessionLifetime'>,
  apiSession: ApiSession,
): CreateApiSessionResponse {
  const identity = tunnelerIdentity(state.tables, apiSession.identityId, clock.now());
  const { defaultHostingPrecedence, defaultHostingCost, appData } = identity;
  const numberOf = (precedence: Precedence) => PRECEDENCES.indexOf(precedence);
  return create(CreateApiSessionResponseSchema, {
    sessionId: apiSession.id,
    token: apiSession.token,
    refreshIntervalSeconds: Math.max(1, Math.floor(sessionLifetime / 1_000) - REFRESH_AHEAD),
    identityId: identity.id,
    identityName: identity.name,
    defaultHostingPrecedence: numberOf(defaultHostingPrecedence),
    defaultHostingCost,
    appDataJson: Object.keys(appData).length > 0 ? JSON.stringify(appData) : '',
    servicePrecedences: mapValues(identity.serviceHostingPrecedences, numberOf),
    serviceCosts: { ...identity.serviceHostingCosts },
  });
}

/** Stores what the router reports of its machine and its program, if it has changed. */
function describeTunneler(
  transaction: Transaction,
  identityId: string,
  { envInfo, sdkInfo }: { readonly envInfo?: EnvInfo | undefined; readonly sdkInfo?: SdkInfo | undefined },
): void {
  const identity = transaction.get('identity', identityId);
  if (!identity) return;
  const given = {
    envInfo: envInfo ? texts(envInfo) : identity.envInfo,
    sdkInfo: sdkInfo ? texts(sdkInfo) : identity.sdkInfo,
  };
  const known = { envInfo: identity.envInfo, sdkInfo: identity.sdkInfo };
  if (JSON.stringify(given) !== JSON.stringify(known)) transaction.put('identity', { ...identity, ...given });
}

/** The fields of a message that have a text. */
function texts({ $typeName: _type, ...fields }: EnvInfo | SdkInfo): Record<string, string> {
  const given = Object.entries(fields).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  return Object.fromEntries(given.filter(([, text]) => text !== ''));
}

function encodeJson(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value));
}

function mapValues<T, U>(map: Readonly<Record<string, T>>, change: (value: T) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(map).map(([key, value]) => [key, change(value)]));
}
