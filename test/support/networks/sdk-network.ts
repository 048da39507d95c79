// A network for SDK clients: two routers with SDK listeners, and services.

import { hostService } from '../clients/management.ts';
import type { Device } from '../clients/sdk-client.ts';
import { edgeListener } from '../config/link-config.ts';
import { until } from '../until.ts';
import { Overlay, type TestRouter } from './overlay.ts';

export interface Network extends AsyncDisposable {
  overlay: Overlay;
  /** Both have a listener for SDK clients. */
  a: TestRouter;
  b: TestRouter;
  /** Id of the service `echo`, which b's tunneler hosts. */
  echo: string;
}

export async function network(): Promise<Network> {
  const overlay = await Overlay.start({ churnLimit: 0 });
  const extra = { connectEvents: { batchInterval: '250ms' } };
  const a = await overlay.addRouter({ name: 'a', mode: 'host', listeners: [edgeListener()], extra });
  const b = await overlay.addRouter({ name: 'b', mode: 'host', listeners: [edgeListener()], extra });
  await overlay.management.edgeRouterPolicies.create({
    name: 'all',
    semantic: 'AnyOf',
    identityRoles: ['#all'],
    edgeRouterRoles: ['#all'],
  });
  const echo = await overlay.addService('echo', b.id, { encrypted: false });
  await overlay.ready();
  return { overlay, a, b, echo, [Symbol.asyncDispose]: () => overlay.close() };
}

/** A service that only SDK clients host. */
export async function sdkService(overlay: Overlay, name: string, hostedBy: string): Promise<string> {
  return hostService(overlay.management, name, { hostedBy, isEncrypted: false });
}

export const counts = ({ router }: TestRouter) => {
  const { circuits, circuitEnds, sdkClients } = router.describe();
  return { circuits, circuitEnds, sdkClients };
};
export const NOTHING = { circuits: 0, circuitEnds: 0, sdkClients: 0 };
export const isEmpty = (router: TestRouter) => JSON.stringify(counts(router)) === JSON.stringify(NOTHING);

/** Waits until both routers hold nothing of the clients, which have ended; closes the connections of their devices. */
export async function allLeft({ a, b }: Pick<Network, 'a' | 'b'>, ...devices: readonly Device[]): Promise<void> {
  await until('both routers to be empty', () => isEmpty(a) && isEmpty(b));
  for (const { http } of devices) await http.close();
}
