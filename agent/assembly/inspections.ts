// Assigns each inspection to the room that answers it.

import { stackDump } from '#lib/process/stack-dump.ts';
import type { DataModel } from '../access/data-model.ts';
import { inspectModel } from '../access/inspect-model.ts';
import type { Controllers } from '../control/controllers.ts';
import { SdkInspections } from '../ingress/edge/clients/sdk-inspections.ts';
import { type Inspection, Inspections, plainNumbers } from '../inspect/inspections.ts';
import type { RouterDescription } from '../interface/description.ts';
import { inspectLink } from '../link/inspect-link.ts';
import type { ManagedConfig } from '../managed/managed-config.ts';
import type { MetricsReporter } from '../metrics/reporter.ts';
import type { Circuits } from './circuits.ts';
import type { RouterContext } from './context.ts';
import type { Ingress } from './ingress.ts';
import { inspectCircuit, inspectCircuits } from './inspect-circuits.ts';
import type { Links } from './links.ts';

export interface InspectedRooms {
  readonly controllers: Controllers;
  readonly circuits: Circuits;
  readonly links: Links;
  readonly ingress: Ingress;
  readonly reporter: MetricsReporter;
  readonly managed: ManagedConfig | undefined;
  /** The state of all rooms, for people. */
  describe(): RouterDescription;
}

/**
 * The reference's controller expects these values from every router when it validates one. reference fact: it crashes
 * without the lists of circuits.
 */
const NO_CIRCUITS = { circuits: {} };

export function assembleInspections(context: RouterContext, rooms: InspectedRooms): Inspections {
  const { clock, config } = context;
  const { controllers, links, ingress, reporter } = rooms;
  const { forwarder } = rooms.circuits;
  const sdk = ingress.sdk && new SdkInspections({ clock, forwarder, clients: ingress.sdk.clients });
  const components = { clock, forwarder, sdk };
  const circuit: Inspection = (id) => inspectCircuit(components, id);
  return new Inspections({
    named: {
      router: rooms.describe,
      config: () => config.written,
      stackdump: () => stackDump(clock),
      links: () => ({
        links: links.registry.links.map(inspectLink),
        destinations: links.wanted.inspect(),
        errors: null,
      }),
      threads: () => context.threads.inspect(),
      metrics: () => plainMessage(reporter.snapshot()),
      'router-circuits': () => inspectCircuits(components),
      'router-edge-circuits': () => sdk?.relayedCircuits() ?? NO_CIRCUITS,
      'router-sdk-circuits': () => sdk?.clientCircuits() ?? NO_CIRCUITS,
      'router-controllers': () => controllers.inspect(),
      'router-config-registry': () => rooms.managed?.inspect(),
      'sdk-terminators': () => ingress.sdk?.hosting.inspect() ?? { entries: [], errors: null },
      'ert-terminators': () => ingress.terminators && { entries: ingress.terminators.inspect('tunnel'), errors: null },
      'identity-connection-statuses': () => identityConnections(ingress, context.routerId),
      ...modelInspections(ingress.model),
    },
    withArgument: {
      circuit,
      circuitandstacks: circuit, // circuits have no stacks: all share one thread
      'sdk-context': (id) => sdk?.contextOf(id),
    },
  });
}

/**
 * The identities that are connected. reference fact: a controller counts the identity of a router's tunneler as
 * connected to its own router, so it is listed, too.
 */
function identityConnections({ sdk, model }: Ingress, routerId: string) {
  const own = model?.identities.has(routerId) && {
    [routerId]: {
      unreported_count: 0,
      unreported_state_changed: false,
      being_reported_count: 0,
      being_reported_state_changed: false,
      connections: [{ id: routerId, closed: false, srcAddr: '', dstAddr: '' }],
    },
  };
  const { identity_connections: clients, ...rest } = sdk?.events?.inspect() ?? {};
  return { identity_connections: { ...(clients as object | undefined), ...own }, ...rest };
}

function modelInspections(model: DataModel | undefined): Record<string, Inspection> {
  return {
    'router-data-model': () => model && inspectModel(model),
    'router-data-model-index': () => model && { timeline: model.timeline, index: model.index },
  };
}

/** Converts a message to plain JSON, without message type names. */
function plainMessage(message: object): unknown {
  return JSON.parse(
    JSON.stringify(message, (key, value) => (key === '$typeName' ? undefined : plainNumbers(key, value))),
  );
}
