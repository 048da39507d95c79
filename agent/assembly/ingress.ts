// Where clients come in: the tunneler, the listeners of SDKs, and the copy of the network's data that both decide by.

import { formatAddress } from '#lib/address.ts';
import { IdSource } from '#lib/ids.ts';
import { EdgeControlType } from '#wire/gen/numbers.ts';
import { Access } from '../access/access.ts';
import { ApiSessions } from '../access/api-session.ts';
import { DataModel } from '../access/data-model.ts';
import { LegacySessions } from '../access/legacy-sessions.ts';
import { ModelSubscription } from '../access/subscription.ts';
import { Tokens } from '../access/tokens.ts';
import type { ClusterView } from '../control/cluster-view.ts';
import type { Controllers } from '../control/controllers.ts';
import { onServerHello } from '../control/messages/server-hello.ts';
import { takeDownLateSdkCircuits } from '../ingress/edge/circuit-request.ts';
import { ConnectEvents } from '../ingress/edge/connect-events.ts';
import { EdgeListener } from '../ingress/edge/edge-listener.ts';
import { SdkClients, type SdkMetrics } from '../ingress/edge/sdk-clients.ts';
import { SdkHosting } from '../ingress/edge/sdk-hosting.ts';
import { KEPT_BINDINGS, Terminators } from '../ingress/terminators.ts';
import { Tunneler } from '../ingress/tunnel/tunneler.ts';
import type { MetricsRegistry } from '../metrics/registry.ts';
import type { Circuits } from './circuits.ts';
import type { RouterContext } from './context.ts';
import { xgressOptionsFor } from './settings.ts';
import type { TlsPorts } from './tls-ports.ts';

export interface Ingress {
  readonly edgeListeners: readonly EdgeListener[];
  readonly tunneler: Tunneler | undefined;
  readonly sdk: SdkRooms | undefined;
  readonly terminators: Terminators | undefined;
}

/** What all listeners for SDK clients share. */
export interface SdkRooms {
  readonly clients: SdkClients;
  readonly hosting: SdkHosting;
}

/** Milliseconds for controllers to hear that nothing is hosted here any longer. */
const REMOVE_TIME = 2_000;
/** For a configuration without an `edge` section. */
const HEARTBEAT_SECONDS = 60;
/** Tokens in one report of those in use. */
const HEARTBEAT_BATCH = 250;

/** Opens the configured listeners. Rejects with the system's error. */
export async function openIngress(
  context: RouterContext,
  { controllers, cluster }: { controllers: Controllers; cluster: ClusterView },
  circuits: Circuits,
  ports: TlsPorts,
): Promise<Ingress> {
  const { config, clock, routerId, version, acceptsCircuits, owned } = context;
  const model = new DataModel(context.component('access'));
  const edgeListeners: EdgeListener[] = [];
  let tunneler: Tunneler | undefined;
  if (config.edge) subscribe(context, { controllers, cluster }, model, edgeListeners);
  const terminators = assembleTerminators(context, controllers, circuits);
  const isEdge = config.edge && config.listeners.some(({ binding }) => binding === 'edge');
  const sdk = isEdge ? assembleSdk(context, controllers, circuits, model, terminators) : undefined;
  for (const listener of config.listeners) {
    const log = context.component(`listener.${listener.binding}`);
    if (listener.binding === 'edge') {
      if (!sdk || listener.address.type !== 'tls') {
        log.warn(
          { address: formatAddress(listener.address) },
          'edge listener is not served: it needs tls and an edge section',
        );
        continue;
      }
      const port = await ports.at(listener.address.host, listener.address.port);
      const { clients } = sdk;
      const edgeListener = new EdgeListener({ clock, log, port, routerId, version, model, clients }, listener);
      owned.defer(() => edgeListener.close());
      edgeListeners.push(edgeListener);
    } else if (listener.binding === 'tunnel' && !tunneler) {
      const { ends, egress } = circuits;
      const opened = await Tunneler.open(
        { clock, log, controllers, model, ends, egress, terminators, routerId, acceptsCircuits },
        listener.options,
      );
      owned.defer(() => opened.close());
      tunneler = opened;
    } else if (listener.binding !== 'tunnel') {
      log.warn({ binding: listener.binding }, 'binding is not served yet');
    }
  }
  return { edgeListeners, tunneler, sdk, terminators };
}

/** Withdrawn before the control channels close, so that controllers send no more circuits here. */
function assembleTerminators(
  context: RouterContext,
  controllers: Controllers,
  { egress, rateLimited: queue }: Circuits,
): Terminators {
  const { clock, owned } = context;
  const terminators = new Terminators({
    clock,
    log: context.component('terminators'),
    controllers,
    queue,
    isStatelessBinding: (binding) => !KEPT_BINDINGS.has(binding) && egress.has(binding),
  });
  owned.defer(() => terminators.close(REMOVE_TIME));
  return terminators;
}

function assembleSdk(
  context: RouterContext,
  controllers: Controllers,
  { forwarder, ends, egress, onUnroutable }: Circuits,
  model: DataModel,
  terminators: Terminators,
): SdkRooms {
  const { clock, config, identity, metrics, random, owned, acceptsCircuits } = context;
  const log = context.component('listener.edge');
  const tokens = new Tokens({ clock, model });
  const legacy = new LegacySessions({
    clock,
    log: context.component('access'),
    controllers,
    heartbeatInterval: (config.edge?.heartbeatIntervalSeconds ?? HEARTBEAT_SECONDS) * 1000,
    heartbeatBatch: HEARTBEAT_BATCH,
  });
  const dial = {
    clock,
    log,
    controllers,
    model,
    access: new Access(model),
    legacy,
    tokens,
    forwarder,
    ends,
    options: xgressOptionsFor(config, 'edge'),
    onUnroutable,
    acceptsCircuits,
  };
  const hosting = new SdkHosting({ ...dial, terminators, ids: new IdSource(random) });
  const sessions = new ApiSessions({ clock, model, legacy, tokens, identity });
  const clients: SdkClients = new SdkClients({
    ...dial,
    sessions,
    hosting,
    metrics: sdkMetrics(metrics, () => clients.count),
    onConnections: (identityId) => events?.changed(identityId),
  });
  const events = config.connectEvents.enabled
    ? new ConnectEvents({ clock, log, controllers, connections: () => clients.connections() }, config.connectEvents)
    : undefined;
  owned.defer(() => events?.close());
  takeDownLateSdkCircuits(controllers, ends);
  egress.use('edge', (request) => hosting.dial(request));
  owned.defer(() => legacy.close());
  owned.defer(() => hosting.close());
  owned.defer(() => clients.close());
  return { clients, hosting };
}

function sdkMetrics(metrics: MetricsRegistry, count: () => number): SdkMetrics {
  const successes = metrics.meter('edge.connect.successes');
  const failures = metrics.meter('edge.connect.failures');
  const disconnects = metrics.meter('edge.disconnects');
  const foreign = metrics.meter('edge.foreign_frames');
  metrics.gauge('edge.connections', count);
  return {
    connected: () => successes.mark(),
    refused: () => failures.mark(),
    disconnected: () => disconnects.mark(),
    foreign: () => foreign.mark(),
  };
}

function subscribe(
  context: RouterContext,
  { controllers, cluster }: { controllers: Controllers; cluster: ClusterView },
  model: DataModel,
  edgeListeners: readonly EdgeListener[],
): void {
  const { clock, random, owned, version } = context;
  const subscription = new ModelSubscription({
    clock,
    log: context.component('access'),
    random,
    controllers,
    model,
    onHistoryReset: () => cluster.reset(),
  });
  owned.defer(() => subscription.close());
  controllers.on(
    EdgeControlType.ServerHello,
    onServerHello({
      version,
      modelIndex: () => model.index,
      listeners: () =>
        edgeListeners.map(({ config: { address, options } }) => ({
          bind: formatAddress(address),
          protocol: address.type,
          bindHost: address.host,
          bindPort: address.port,
          ...options.advertise,
        })),
    }),
  );
}
