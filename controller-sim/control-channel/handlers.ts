// The handler of each message type. Messages that need no action are listed too, so that they are not unexpected.

import { ControlType, EdgeControlType } from '#wire/gen/numbers.ts';
import type { ControlHandler } from './context.ts';
import { onCircuitConfirmation } from './messages/circuit-confirmation.ts';
import {
  onCircuitRequest,
  onCreateCircuit,
  onCreateCircuitV2,
  onCreateCircuitV3,
  onCreateTunnelCircuit,
} from './messages/create-circuit.ts';
import { onDecommission } from './messages/decommission.ts';
import { onExtendCertificates, onExtendVerify } from './messages/extend-certificates.ts';
import { onHealthEvent, onTunnelHealthEvent } from './messages/health-events.ts';
import { onFault, onLinkState, onListeners, onRouterLinks } from './messages/links.ts';
import { onMetrics } from './messages/metrics.ts';
import * as older from './messages/older-tunnelers.ts';
import { onDequiesce, onQuiesce } from './messages/quiesce.ts';
import { onInterfaces } from './messages/reported-state.ts';
import { onRouteResult } from './messages/route-result.ts';
import * as sync from './messages/sync.ts';
import {
  onRemoveEdgeTerminator,
  onRemoveFabricTerminator,
  onRemoveTerminators,
  onRemoveTunnelTerminator,
  onUpdateFabricTerminator,
  onUpdateTerminator,
  onUpdateTunnelTerminator,
} from './messages/terminator-changes.ts';
import { onCreateFabricTerminator, onCreateTerminator, onCreateTunnelTerminator } from './messages/terminators.ts';
import { onVerifyRouter } from './messages/verify-router.ts';

/** Messages that grow with the links, circuits or clients of a router. Most others describe one of these. */
export const LISTS: ReadonlySet<number> = new Set([
  ControlType.Metrics,
  ControlType.CircuitConfirmation,
  ControlType.RouterLinks,
  ControlType.RemoveTerminators,
  ControlType.ValidateTerminatorsV2Response,
  EdgeControlType.ApiSessionHeartbeat,
  EdgeControlType.ValidateSessions,
  EdgeControlType.ConnectEvents,
]);

const ignored: ControlHandler = () => undefined;

export const HANDLERS: ReadonlyMap<number, ControlHandler> = new Map<number, ControlHandler>([
  [ControlType.CircuitRequest, onCircuitRequest],
  [ControlType.Fault, onFault],
  [ControlType.Metrics, onMetrics],
  [ControlType.TraceEvent, ignored],
  [ControlType.CreateTerminator, onCreateFabricTerminator],
  [ControlType.UpdateTerminator, onUpdateFabricTerminator],
  [ControlType.RemoveTerminator, onRemoveFabricTerminator],
  [ControlType.InspectRequest, sync.onInspect],
  [ControlType.RouteResult, onRouteResult],
  [ControlType.CircuitConfirmation, onCircuitConfirmation],
  [ControlType.RouterLinks, onRouterLinks],
  [ControlType.VerifyRouter, onVerifyRouter],
  [ControlType.RemoveTerminators, onRemoveTerminators],
  [ControlType.ValidateTerminatorsV2Response, ignored], // of an abandoned validation
  [ControlType.Quiesce, onQuiesce],
  [ControlType.Dequiesce, onDequiesce],
  [ControlType.UpdateRouterInterfaces, onInterfaces],
  [ControlType.Decommission, onDecommission],
  [ControlType.LinkState, onLinkState],
  [ControlType.Alerts, sync.onAlerts],
  [ControlType.RequestClusterMembers, sync.onRequestMembers],
  [ControlType.UpdateLinkListeners, onListeners],
  [EdgeControlType.ClientHello, sync.onClientHello],
  [EdgeControlType.ApiSessionHeartbeat, sync.onApiSessionHeartbeat],
  [EdgeControlType.RequestClientReSync, sync.onRequestResync],
  [EdgeControlType.ValidateSessions, sync.onValidateSessions],
  [EdgeControlType.UpdateTerminator, onUpdateTerminator],
  [EdgeControlType.RemoveTerminator, onRemoveEdgeTerminator],
  [EdgeControlType.HealthEvent, onHealthEvent],
  [EdgeControlType.CreateTerminatorV2, onCreateTerminator],
  [EdgeControlType.CreateCircuit, onCreateCircuit],
  [EdgeControlType.CreateCircuitV2, onCreateCircuitV2],
  [EdgeControlType.CreateCircuitV3, onCreateCircuitV3],
  [EdgeControlType.CreateTunnelCircuitV2, onCreateTunnelCircuit],
  [EdgeControlType.EnrollmentExtendRouter, onExtendCertificates],
  [EdgeControlType.EnrollmentExtendRouterVerify, onExtendVerify],
  [EdgeControlType.CreateApiSession, older.onCreateApiSession],
  [EdgeControlType.CreateCircuitForService, older.onCreateCircuitForService],
  [EdgeControlType.ListServices, older.onListServices],
  [EdgeControlType.CreateTunnelTerminator, older.onCreateTunnelTerminatorV1],
  [EdgeControlType.RemoveTunnelTerminator, onRemoveTunnelTerminator],
  [EdgeControlType.UpdateTunnelTerminator, onUpdateTunnelTerminator],
  [EdgeControlType.TunnelHealthEvent, onTunnelHealthEvent],
  [EdgeControlType.CreateTunnelTerminatorV2, onCreateTunnelTerminator],
  [EdgeControlType.ConnectEvents, sync.onConnectEvents],
  [EdgeControlType.SubscribeToDataModel, sync.onSubscribe],
  [EdgeControlType.CurrentIndex, ignored],
]);
