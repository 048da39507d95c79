// The ports of a router's listeners, as the router reports them: the system chooses them.

import type { RouterDescription } from '../../../agent/interface/description.ts';

/** Each in the order of the configuration; WebSocket listeners follow the others. */
export function portsOf(router: RouterDescription) {
  return {
    link: router.linkListeners.map(({ bind }) => portIn(bind)),
    control: router.controlListeners.map(({ bind }) => portIn(bind)),
    sdk: router.edgeListeners.map(({ port }) => port),
    fabric: router.fabricListeners.map(({ port }) => port),
    proxy: router.proxies.map(({ port }) => port),
    web: router.web.map(portIn),
  };
}

export type RouterPorts = ReturnType<typeof portsOf>;

function portIn(address: string): number {
  return Number(address.slice(address.lastIndexOf(':') + 1));
}
