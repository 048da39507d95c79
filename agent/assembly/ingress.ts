// Opens the client side: the tunneler, the SDK listeners, and the copy of the network's data that both use.

import { formatAddress } from '#lib/net/address.ts';
import { type ListenPlace, listening } from '#lib/net/listening.ts';
import { EdgeControlType } from '#wire/gen/numbers.ts';
import { DataModel } from '../access/data-model.ts';
import { ModelFile } from '../access/model-file.ts';
import { modelFilePath } from '../access/model-path.ts';
import { ModelSubscription } from '../access/subscription.ts';
import { onValidateModel } from '../access/validate-model.ts';
import type { RouterConfig } from '../config/router-config.ts';
import { AdaptiveWindow, DEFAULT_WINDOW } from '../control/adaptive-window.ts';
import type { ClusterView } from '../control/cluster-view.ts';
import type { Controllers } from '../control/controllers.ts';
import { recordPath } from '../control/endpoints-file.ts';
import { onServerHello } from '../control/messages/server-hello.ts';
import { parseDatagramAddress } from '../egress/datagram.ts';
import type { EdgeListener } from '../ingress/edge/clients/edge-listener.ts';
import { removeLateFabricCircuits } from '../ingress/fabric/fabric-dialer.ts';
import { FabricListener, type FabricListenerConfig } from '../ingress/fabric/fabric-listener.ts';
import { type TerminatorHosts, TerminatorValidations } from '../ingress/terminators/terminator-validations.ts';
import { KEPT_BINDINGS, Terminators } from '../ingress/terminators/terminators.ts';
import { removeLeftovers } from '../ingress/tunnel/leftovers.ts';
import { ChangesMarker } from '../ingress/tunnel/system/changes-marker.ts';
import { Tunneler } from '../ingress/tunnel/tunneler.ts';
import { PoolFigures } from '../metrics/pool-figures.ts';
import type { Circuits } from './circuits.ts';
import type { RouterContext } from './context.ts';
import { openEdgeListener } from './edge-listeners.ts';
import { assembleSdk, type SdkRooms } from './sdk.ts';
import { needsCertificates } from './settings.ts';
import type { TlsPorts } from './tls-ports.ts';

export interface Ingress {
  readonly edgeListeners: readonly EdgeListener[];
  readonly fabricListeners: readonly FabricListener[];
  readonly tunneler: Tunneler | undefined;
  readonly sdk: SdkRooms | undefined;
  readonly terminators: Terminators | undefined;
  /** Undefined until the listeners are open. */
  readonly model: DataModel | undefined;
}

/** Without an edge section. */
const SAVE_SECONDS = 30;
/** Milliseconds for the removal of terminators from the controllers. */
const REMOVE_TIME = 2_000;

/** Opens the configured listeners. Rejects with ListenError, which names the key. */
export async function openIngress(
  context: RouterContext,
  { controllers, cluster, peers }: { controllers: Controllers; cluster: ClusterView; peers(): Iterable<string> },
  circuits: Circuits,
  ports: TlsPorts,
): Promise<Ingress> {
  const { config, clock, io, random, routerId, acceptsCircuits } = context;
  const model = new DataModel(context.component('access'));
  const edgeListeners: EdgeListener[] = [];
  const edgePool = edgeHellos(context);
  const fabricListeners: FabricListener[] = [];
  let tunneler: Tunneler | undefined;
  if (usesModel(config)) subscribe(context, { controllers, cluster }, model, edgeListeners);
  else answerValidations(context, controllers, undefined);
  if (usesModel(config)) await openModelFile(context, model);
  const terminators = assembleTerminators(context, controllers, circuits);
  const isEdge = config.edge && config.listeners.some(({ binding }) => binding === 'edge');
  const sdk = isEdge ? assembleSdk(context, controllers, circuits, model, terminators) : undefined;
  assembleValidations(context, controllers, terminators, { egress: circuits.egress, hosts: sdk?.hosting });
  const marker = await removeTraces(context);
  for (const { listener, key } of inOrder(config)) {
    const log = context.component(`listener.${listener.binding}`);
    if (listener.binding === 'edge') {
      if (!sdk) continue; // the configuration check rejects it
      const { clients } = sdk;
      const onHello = () => edgePool.begin();
      const parts = { model, clients, onHello };
      const place = { key: `${key}.address`, network: 'tcp', ...listener.address } as const;
      edgeListeners.push(await listening(place, () => openEdgeListener(context, ports, parts, listener)));
    } else if (listener.binding === 'tunnel' && !tunneler) {
      const { ends, egress } = circuits;
      const opened = await Tunneler.open(
        {
          clock,
          io,
          log,
          random,
          controllers,
          model,
          ends,
          egress,
          terminators,
          marker,
          routerId,
          acceptsCircuits,
          peers,
        },
        { key, options: listener.options },
      );
      context.own(opened);
      tunneler = opened;
    } else if (listener.binding !== 'tunnel') {
      const { ends } = circuits;
      const tlsPort = (host: string, port: number) =>
        ports.at(host, port, { requestCert: needsCertificates(config, { host, port }) });
      const components = { clock, io, log, controllers, ends, acceptsCircuits, tlsPort };
      const opened = await listening({ key: `${key}.address`, ...placeOf(listener) }, () =>
        FabricListener.open(components, listener),
      );
      context.own(opened);
      fabricListeners.push(opened);
    }
  }
  if (fabricListeners.length > 0) removeLateFabricCircuits(controllers, circuits.ends);
  return { edgeListeners, fabricListeners, tunneler, sdk, terminators, model };
}

/** Reverts the changes of a killed process to this machine. Returns the record of changes for the tunneler. */
async function removeTraces(context: RouterContext): Promise<ChangesMarker> {
  const { config, clock, routerId } = context;
  const log = context.component('listener.tunnel');
  const marker = new ChangesMarker(recordPath(config, routerId, 'changes'), log);
  await removeLeftovers({ clock, log, marker, routerId });
  return marker;
}

/**
 * Listeners with their keys in the configuration. WebSocket listeners come last: on a shared port they accept clients
 * without ALPN only if no other listener does.
 */
function inOrder({ listeners }: RouterConfig): { listener: RouterConfig['listeners'][number]; key: string }[] {
  const isLast = ({ listener }: { listener: RouterConfig['listeners'][number] }) =>
    listener.binding === 'edge' && listener.address.type === 'wss' ? 1 : 0;
  return listeners
    .map((listener, index) => ({ listener, key: `listeners[${index}]` }))
    .toSorted((a, b) => isLast(a) - isLast(b));
}

/** The address of a listener for clients without an identity, as text for errors. */
function placeOf(listener: FabricListenerConfig): Omit<ListenPlace, 'key'> {
  if (listener.binding === 'transport_udp' || listener.binding === 'proxy_udp')
    return { network: 'udp', ...parseDatagramAddress(listener.address) };
  return { network: 'tcp', ...listener.address };
}

function edgeHellos({ config, metrics, clock }: RouterContext): PoolFigures {
  const edge = config.listeners.filter((listener) => listener.binding === 'edge');
  const hellos = edge.reduce((sum, { options }) => sum + options.maxOutstandingConnects, 0);
  return new PoolFigures(metrics, clock, 'pool.listener.xgress_edge', hellos);
}

/** Removes the terminators before the control channels close, so that controllers stop routing circuits here. */
function assembleTerminators(
  context: RouterContext,
  controllers: Controllers,
  { rateLimited: queue }: Circuits,
): Terminators {
  const { clock, metrics, owned } = context;
  const created = metrics.timer('xgress_edge_tunnel.terminator.create_timer');
  const terminators = new Terminators({
    created: (binding, milliseconds) => binding === 'tunnel' && created.update(milliseconds),
    clock,
    log: context.component('terminators'),
    controllers,
    queue,
    window: new AdaptiveWindow(
      { clock, log: context.component('control'), metrics },
      context.config.ctrl.rateLimiter ?? DEFAULT_WINDOW,
    ),
  });
  owned.defer(() => terminators.close(REMOVE_TIME));
  return terminators;
}

function assembleValidations(
  context: RouterContext,
  controllers: Controllers,
  terminators: Terminators,
  { egress, hosts }: { egress: Circuits['egress']; hosts: TerminatorHosts | undefined },
): void {
  const { clock, metrics } = context;
  const figures = new PoolFigures(metrics, clock, 'pool.terminator_validation', 1);
  const validations = new TerminatorValidations({
    clock,
    log: context.component('terminators'),
    controllers,
    terminators,
    hosts,
    isStatelessBinding: (binding) => !KEPT_BINDINGS.has(binding) && egress.has(binding),
    validated: () => figures.begin(),
  });
  context.own(validations);
}

/** Loads the model before listeners open, so that they serve it from the first client on. */
async function openModelFile(context: RouterContext, model: DataModel): Promise<void> {
  const { clock, config, routerId } = context;
  const seconds = config.edge?.dbSaveIntervalSeconds ?? SAVE_SECONDS;
  const components = { clock, log: context.component('access'), model };
  context.own(await ModelFile.open(components, { path: modelFilePath(config), routerId, interval: seconds * 1_000 }));
}

/** Managed configuration arrives with the data model, so a router without edge functions subscribes, too. */
export function usesModel({ edge, managedConfig }: RouterConfig): boolean {
  return edge !== undefined || managedConfig.allow.length > 0;
}

function subscribe(
  context: RouterContext,
  { controllers, cluster }: { controllers: Controllers; cluster: ClusterView },
  model: DataModel,
  edgeListeners: readonly EdgeListener[],
): void {
  const { clock, config, random, version } = context;
  const pool = new PoolFigures(context.metrics, clock, 'pool.rdm.handler', 1);
  const subscription = new ModelSubscription({
    working: (work) => pool.run(work),
    clock,
    log: context.component('access'),
    random,
    controllers,
    model,
    onHistoryReset: () => cluster.reset(),
  });
  context.own(subscription);
  const answerHello = onServerHello({
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
  });
  if (config.edge) controllers.on(EdgeControlType.ServerHello, answerHello);
  answerValidations(context, controllers, { model, subscription });
}

/** Controllers wait for an answer even from a router without a data model. */
function answerValidations(
  context: RouterContext,
  controllers: Controllers,
  copy: { model: DataModel; subscription: ModelSubscription } | undefined,
): void {
  const log = context.component('access');
  const onValidate = onValidateModel({
    log,
    model: copy?.model,
    replace: (state) => copy?.subscription.replace(state),
  });
  controllers.on(EdgeControlType.ValidateDataState, onValidate);
}
