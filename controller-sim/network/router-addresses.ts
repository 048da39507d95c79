// The addresses of routers as others learn them. By default those that the routers advertise.

import type { Listener } from '#wire/gen/control_pb.js';
import type { ConnectedRouter } from './connected-router.ts';

export interface RouterAddresses {
  /** The link listeners of a router for another one. */
  links(listener: ConnectedRouter, dialerId: string): Listener[];
  /** The URLs of a router for SDK clients, by protocol. */
  edge(routerId: string, urls: Readonly<Record<string, string>>): Readonly<Record<string, string>>;
}

export const ADVERTISED: RouterAddresses = {
  links: ({ linkListeners }) => [...linkListeners],
  edge: (_routerId, urls) => urls,
};
