// Sections of a router's configuration file for tests, as objects.

import type { RouterFile } from '../../../agent/config/router-file.ts';

export type LinkSection = NonNullable<RouterFile['link']>;
type LinkListener = NonNullable<LinkSection['listeners']>[number];
type LinkDialer = NonNullable<LinkSection['dialers']>[number];
type Listener = NonNullable<RouterFile['listeners']>[number];
export type TunnelOptions = NonNullable<Extract<Listener, { readonly binding?: 'tunnel' | undefined }>['options']>;

const BACKOFF = { minRetryInterval: '200ms', maxRetryInterval: '1s' };

/** A port of the loopback interface, or `host:port`. Port 0: the system chooses it, and the router reports it. */
type Place = number | string;

function placeOf(place: Place): string {
  return typeof place === 'string' ? place : `127.0.0.1:${place}`;
}

export function linkListener(place: Place = 0, more: LinkListener = {}): LinkListener {
  const address = `tls:${placeOf(place)}`;
  return { binding: 'transport', bind: address, advertise: address, ...more };
}

/** A dialer of links with short pauses before growth and redials. */
export function linkDialer(more: LinkDialer = {}): LinkDialer {
  return { binding: 'transport', startupDelay: '100ms', healthyDialBackoff: BACKOFF, ...more };
}

/** Only listens for links. */
export function listening(place: Place = 0, more: LinkListener = {}): LinkSection {
  return { listeners: [linkListener(place, more)], dialers: [] };
}

/** Only dials links. */
export function dialing(more: LinkDialer = {}): LinkSection {
  return { listeners: [], dialers: [linkDialer(more)] };
}

/** Routers link only if they share a group. */
export function linkIn(groups: readonly string[], place: Place = 0) {
  return {
    listeners: [linkListener(place, { groups })],
    dialers: [linkDialer({ startupDelay: '200ms', groups })],
  };
}

/** A listener for SDK clients. */
export function edgeListener(place: Place = 0, type: 'tls' | 'wss' = 'tls'): Listener {
  return { binding: 'edge', address: `${type}:${placeOf(place)}`, options: { advertise: placeOf(place) } };
}

/** A server for the section `web`. */
export function webServer(place: Place, ...apis: readonly ('health-checks' | 'metrics')[]) {
  const address = placeOf(place);
  return {
    name: `${apis.join(' ')} ${address}`,
    bindPoints: [{ interface: address, address }],
    apis: apis.map((binding) => ({ binding })),
  };
}
