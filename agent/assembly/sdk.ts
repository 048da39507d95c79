// Builds the parts that all listeners for SDK clients share: sessions, rights, hosted services, reports of connected
// identities.

import { IdSource } from '#lib/ids.ts';
import { Access } from '../access/access.ts';
import { ApiSessions } from '../access/api-session.ts';
import type { DataModel } from '../access/data-model.ts';
import { LegacySessions } from '../access/legacy-sessions.ts';
import { Tokens } from '../access/tokens.ts';
import type { RouterConfig } from '../config/router-config.ts';
import type { Controllers } from '../control/controllers.ts';
import { ConnectEvents } from '../ingress/edge/clients/connect-events.ts';
import { SdkClients, type SdkMetrics } from '../ingress/edge/clients/sdk-clients.ts';
import { SessionValidation, type SessionValidationInit } from '../ingress/edge/clients/session-validation.ts';
import { removeLateSdkCircuits } from '../ingress/edge/dial/circuit-request.ts';
import { SdkHosting } from '../ingress/edge/hosting/sdk-hosting.ts';
import type { Terminators } from '../ingress/terminators/terminators.ts';
import type { Circuits } from './circuits.ts';
import type { RouterContext } from './context.ts';
import { sessionHeartbeatInterval, xgressOptionsFor } from './settings.ts';

export interface SdkRooms {
  readonly clients: SdkClients;
  readonly hosting: SdkHosting;
  readonly events: ConnectEvents | undefined;
}

/** Defaults for a configuration without an `edge` section. */
const VALIDATION = { chunkSize: 1_000, minInterval: 250, maxInterval: 1_500 };
/** Tokens in one report of tokens in use. */
const HEARTBEAT_BATCH = 250;

export function assembleSdk(
  context: RouterContext,
  controllers: Controllers,
  { forwarder, ends, egress, onUnroutable }: Circuits,
  model: DataModel,
  terminators: Terminators,
): SdkRooms {
  const { clock, config, identity, random, owned, acceptsCircuits } = context;
  const log = context.component('listener.edge');
  const tokens = new Tokens({ clock, model });
  const legacySessions = new LegacySessions({
    clock,
    log: context.component('access'),
    controllers,
    heartbeatInterval: sessionHeartbeatInterval(config),
    heartbeatBatch: HEARTBEAT_BATCH,
  });
  const dial = {
    clock,
    log,
    controllers,
    model,
    access: new Access(model),
    legacySessions,
    tokens,
    forwarder,
    ends,
    options: xgressOptionsFor(config, 'edge'),
    onUnroutable,
    acceptsCircuits,
  };
  const hosting = new SdkHosting({ ...dial, terminators, ids: new IdSource(random) });
  const sessions = new ApiSessions({ clock, model, legacySessions, tokens, identity });
  const clients: SdkClients = new SdkClients({
    ...dial,
    sessions,
    hosting,
    metrics: sdkMetrics(context, model, () => clients.count),
    onConnections: (identityId, opened) => events?.changed(identityId, opened),
  });
  const events = config.connectEvents.enabled
    ? new ConnectEvents({ clock, log, controllers, connections: () => clients.connections() }, config.connectEvents)
    : undefined;
  const validation = new SessionValidation(
    { clock, log: context.component('access'), random, controllers, clients },
    validationInit(config),
  );
  owned.defer(() => events?.close());
  context.own(validation);
  removeLateSdkCircuits(controllers, ends);
  egress.use('edge', (request) => hosting.dial(request));
  context.own(legacySessions);
  context.own(hosting);
  context.own(clients);
  return { clients, hosting, events };
}

function validationInit({ edge }: RouterConfig): SessionValidationInit {
  if (!edge) return VALIDATION;
  return {
    chunkSize: edge.sessionValidateChunkSize,
    minInterval: edge.sessionValidateMinInterval,
    maxInterval: edge.sessionValidateMaxInterval,
  };
}

function sdkMetrics({ config, metrics }: RouterContext, model: DataModel, count: () => number): SdkMetrics {
  const delay = config.metrics.enableDataDelayMetric ? metrics.timer('xgress_edge.long_data_queue_time') : undefined;
  const invalidTokens = metrics.meter('edge.invalid_api_tokens');
  const invalidDuringSync = metrics.meter('edge.invalid_api_tokens_during_sync');
  const successes = metrics.meter('edge.connect.successes');
  const failures = metrics.meter('edge.connect.failures');
  const disconnects = metrics.meter('edge.disconnects');
  const foreign = metrics.meter('edge.foreign_frames');
  metrics.gauge('edge.connections', count);
  return {
    connected: () => successes.mark(),
    rejected: () => failures.mark(),
    disconnected: () => disconnects.mark(),
    dataDelayed: delay && ((milliseconds) => delay.update(milliseconds)),
    invalidToken: () => {
      invalidTokens.mark();
      if (model.index === 0n) invalidDuringSync.mark();
    },
    foreign: () => foreign.mark(),
  };
}
