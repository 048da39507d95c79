// Inspections of circuits: those that use this router, and a single one with all its parts on this router.

import type { Clock } from '#lib/time/clock.ts';
import { formatDuration } from '#lib/time/duration.ts';
import type { Destination } from '../forwarder/destination.ts';
import type { Forwarder } from '../forwarder/forwarder.ts';
import type { SdkInspections } from '../ingress/edge/clients/sdk-inspections.ts';
import { SdkRelay } from '../ingress/edge/ends/sdk-relay.ts';
import { inspectLink } from '../link/inspect-link.ts';
import { Link } from '../link/link.ts';
import { Xgress } from '../xgress/xgress.ts';

export interface CircuitInspectionComponents {
  clock: Clock;
  forwarder: Forwarder;
  sdk: SdkInspections | undefined;
}

interface CircuitInspection {
  readonly circuitId: string;
  readonly forwards: Record<string, string>;
  readonly xgressDetails: Record<string, unknown>;
  readonly relatedEntities: Record<string, Record<string, unknown>>;
  errors: string[] | null;
}

/** `router-circuits` */
export function inspectCircuits({ clock, forwarder }: CircuitInspectionComponents): Record<string, unknown> {
  const circuits = [...forwarder.circuits.values()].map(({ id, owner, lastActivity, forwards }) => {
    const addresses = [...forwards].flat();
    const circuit = {
      id,
      timeSinceActivity: formatDuration(clock.monotonic() - lastActivity),
      ctrlId: owner,
      routes: Object.fromEntries(forwards),
      destinations: Object.fromEntries(addresses.map((each) => [each, kindOf(forwarder.destination(each))])),
    };
    return [id, circuit] as const;
  });
  return { circuits: Object.fromEntries(circuits) };
}

/** `circuit:ID`; undefined for an unknown circuit. */
export async function inspectCircuit(
  { forwarder, sdk }: CircuitInspectionComponents,
  circuitId: string,
): Promise<CircuitInspection | undefined> {
  const circuit = forwarder.circuits.get(circuitId);
  if (!circuit) return undefined;
  const inspection: CircuitInspection = {
    circuitId,
    forwards: Object.fromEntries(circuit.forwards),
    xgressDetails: dictionary(),
    relatedEntities: {},
    errors: null,
  };
  for (const address of circuit.forwards.values()) {
    const destination = forwarder.destination(address);
    if (destination instanceof Link) relate(inspection, 'link', destination.id, inspectLink(destination));
    else if (destination instanceof Xgress) inspection.xgressDetails[address] = destination.inspect();
    else if (destination instanceof SdkRelay) await addRelay(inspection, sdk, destination);
  }
  return inspection;
}

async function addRelay(into: CircuitInspection, sdk: SdkInspections | undefined, relay: SdkRelay): Promise<void> {
  const found = await sdk?.circuit(relay);
  if (!found) return;
  relate(into, 'edge', found.id, found.details);
  const { detail, error } = found.client;
  if (detail) into.xgressDetails[relay.address] = detail;
  if (error !== undefined) into.errors = [...(into.errors ?? []), error];
}

function relate(into: CircuitInspection, kind: string, id: string, details: unknown): void {
  into.relatedEntities[kind] ??= dictionary();
  into.relatedEntities[kind][id] = details;
}

/** Without a prototype: controllers and other routers choose addresses and ids, and one may be `__proto__`. */
function dictionary(): Record<string, unknown> {
  return Object.create(null) as Record<string, unknown>;
}

/** Names of the reference. */
function kindOf(destination: Destination | undefined): string {
  if (!destination) return 'missing';
  if (destination instanceof Link) return 'link';
  return destination instanceof SdkRelay ? 'xg-edge-fwd' : 'xgress';
}
