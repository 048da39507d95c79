// The hosts that a router must reach itself, whatever its tunneler intercepts.

import type { RouterConfig } from '../config/router-config.ts';
import type { Controllers } from '../control/controllers.ts';
import type { Links } from './links.ts';
import { httpProxy } from './settings.ts';

/** The host of `tls:host:port`, `tls:[::1]:6262` and `tcp:::ffff:10.0.0.1:6262`: IPv4 addresses without a prefix. */
const HOST = /^\w+:\[?(?:::ffff:)?(.*?)\]?:\d+$/;

/** Controllers, peers of links in both directions, and the proxy. Names or addresses; some may repeat. */
export function* peersOf(
  config: RouterConfig,
  controllers: Pick<Controllers, 'all' | 'notConnected'>,
  { registry, wanted }: Pick<Links, 'registry' | 'wanted'>,
): Generator<string> {
  const proxy = httpProxy(config.proxy);
  if (proxy) yield proxy.host;
  for (const { address } of controllers.all) yield hostOf(address);
  for (const { endpoints } of controllers.notConnected) yield* endpoints.map(hostOf);
  for (const { address } of wanted.describe()) yield hostOf(address);
  for (const { connections } of registry.links) yield* connections.map(({ remoteAddr }) => hostOf(remoteAddr));
}

/** Empty for the address of a closed connection. */
function hostOf(address: string): string {
  return HOST.exec(address)?.[1] ?? '';
}
