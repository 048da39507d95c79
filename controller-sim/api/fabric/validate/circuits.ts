// Compares the circuits of the controller with those that routers forward and relay to SDK clients, and with those that
// the clients know.

import { versionAtLeast } from '#wire/channel/version-info.ts';
import { RouterCircuitDetailsSchema } from '#wire/gen/management_pb.js';
import { ManagementType } from '#wire/gen/numbers.ts';
import type { Router } from '../../../state/kinds/router.ts';
import type { ApiServices } from '../../operations/context.ts';
import { routerValidation } from './router-validation.ts';
import { askRouter, type Fields } from './router-values.ts';

/** The first version that answers these inspections. reference fact: the circuits of older routers are all valid. */
const ANSWERS = 'v1.6.6';
const FORWARDED = 'router-circuits';
const RELAYED = 'router-edge-circuits';
const CLIENTS = 'router-sdk-circuits';
/** The kind of a destination that relays payloads to an SDK client. */
const RELAY = 'xg-edge-fwd';

interface CircuitDetail {
  circuitId: string;
  missingInCtrl: boolean;
  missingInForwarder: boolean;
  missingInEdge: boolean;
  missingInSdk: boolean;
  destinations: Record<string, string>;
}

export const circuitsValidation = routerValidation({
  types: {
    request: ManagementType.ValidateCircuits,
    response: ManagementType.ValidateCircuitsResponse,
    result: ManagementType.ValidateCircuitsResult,
  },
  schema: RouterCircuitDetailsSchema,
  check: async (services, asked) => {
    const { router, connected } = asked;
    const answered = { routerId: router.id, routerName: router.name, validateSuccess: true };
    if (!versionAtLeast(connected.version.version, ANSWERS)) return answered;
    const missing = 'no identity in connection details returned from router';
    const values = await askRouter(asked, [FORWARDED, RELAYED, CLIENTS], missing);
    return { ...answered, details: compare(services, router, values) };
  },
  failed,
  offline: (router) => failed(router, `router ${router.id} is not connected`),
});

function failed({ id, name }: Router, message: string) {
  return { routerId: id, routerName: name, validateSuccess: false, message };
}

function compare(
  { network, controllerId }: Pick<ApiServices, 'network' | 'controllerId'>,
  router: Router,
  values: (name: string) => Fields,
): Record<string, CircuitDetail> {
  const details = new Map<string, CircuitDetail>();
  const add = (circuitId: string, fields: Partial<CircuitDetail>) =>
    details.set(circuitId, { ...PRESENT, circuitId, destinations: {}, ...fields });
  const forwarded = values(FORWARDED).map('circuits');
  for (const { id, path } of network.circuits.values()) {
    if (!path.routers.includes(router.id)) continue;
    const found = forwarded.get(id);
    const destinations = found?.textMap('destinations') ?? {};
    // The lists of relays and of clients, evaluated below, clear these flags.
    const isRelayed = Object.values(destinations).includes(RELAY);
    add(id, { missingInForwarder: !found, missingInEdge: isRelayed, missingInSdk: isRelayed, destinations });
  }
  for (const [id, circuit] of forwarded)
    if (circuit.text('ctrlId') === controllerId && !details.has(id)) add(id, { missingInCtrl: true });
  const own = (name: string) =>
    [...values(name).map('circuits').values()]
      .filter((circuit) => circuit.text('ctrlId') === controllerId)
      .map((circuit) => circuit.text('circuitId'));
  for (const id of own(RELAYED)) {
    const detail = details.get(id);
    if (detail) detail.missingInEdge = false;
    else add(id, { missingInCtrl: true, missingInForwarder: true });
  }
  for (const id of own(CLIENTS)) {
    const detail = details.get(id);
    if (detail) detail.missingInSdk = false;
    else add(id, { missingInCtrl: true, missingInForwarder: true, missingInEdge: true });
  }
  return Object.fromEntries(details);
}

const PRESENT = { missingInCtrl: false, missingInForwarder: false, missingInEdge: false, missingInSdk: false };
