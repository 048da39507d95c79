// Valid settings that this version does not support: `config check` warns about them, and the router logs them once at
// startup.

import { formatAddress } from '#lib/net/address.ts';
import type { RouterConfig } from './router-config.ts';

export interface Unserved {
  readonly path: string;
  readonly message: string;
  readonly remedy: string;
  /** The router would have nothing to do. */
  readonly isFatal?: boolean;
}

/** Bindings whose options apply to circuits and their ends. */
const EGRESS_BINDINGS: readonly string[] = ['transport', 'transport_udp', 'edge_transport', 'edge', 'tunnel'];
const LISTENERS_ONLY: readonly string[] = ['proxy', 'proxy_udp'];

/** Whether this version supports listeners for links or controllers at an address: both require TLS over TCP. */
export function isServed({ type }: { type: string }): boolean {
  return type === 'tls';
}

/** All configured settings that are unsupported, in the order of the sections. */
export function unserved(config: RouterConfig): Unserved[] {
  return [...controllers(config), ...links(config), ...dialers(config), ...tunnels(config), ...debugging(config)];
}

function controllers({ ctrl }: RouterConfig): Unserved[] {
  const single = ctrl.endpoint ? [{ path: 'ctrl.endpoint', address: ctrl.endpoint }] : undefined;
  const dialed =
    single ?? (ctrl.endpoints ?? []).map((address, index) => ({ path: `ctrl.endpoints[${index}]`, address }));
  const isFatal = ctrl.listeners.length === 0 && dialed.every(({ address }) => !isServed(address));
  return [
    ...dialed
      .filter(({ address }) => !isServed(address))
      .map(({ path, address }) => ({
        path,
        message: `controllers are dialed over tls only, so ${formatAddress(address)} is never dialed`,
        remedy: `write ${formatAddress({ ...address, type: 'tls' })}`,
        isFatal,
      })),
    ...ctrl.listeners.flatMap(({ bind }, index) =>
      isServed(bind) ? [] : [notOpened(`ctrl.listeners[${index}].bind`, 'controllers are', bind)],
    ),
  ];
}

function links({ link }: RouterConfig): Unserved[] {
  return link.listeners.flatMap(({ bind, advertise }, index) => {
    if (!isServed(bind)) return [notOpened(`link.listeners[${index}].bind`, 'links are', bind)];
    if (!advertise || isServed(advertise)) return [];
    return [
      {
        path: `link.listeners[${index}].advertise`,
        message: `links are accepted over tls only, so other routers cannot dial ${formatAddress(advertise)}`,
        remedy: `write ${formatAddress({ ...advertise, type: 'tls' })}`,
      },
    ];
  });
}

function notOpened(path: string, what: string, bind: Parameters<typeof formatAddress>[0]): Unserved {
  return {
    path,
    message: `${what} accepted over tls only: the listener on ${formatAddress(bind)} is not opened`,
    remedy: `write ${formatAddress({ ...bind, type: 'tls' })}, here and where it is advertised`,
  };
}

function dialers({ dialers: entries }: RouterConfig): Unserved[] {
  return entries.flatMap(({ binding }, index) => {
    if (EGRESS_BINDINGS.includes(binding)) return [];
    const message = LISTENERS_ONLY.includes(binding)
      ? `${binding} is a listener: as a dialer it has no effect`
      : `the binding "${binding}" is not supported: its terminators cannot be dialed`;
    return [{ path: `dialers[${index}].binding`, message, remedy: `known are ${EGRESS_BINDINGS.join(', ')}` }];
  });
}

function tunnels({ listeners }: RouterConfig): Unserved[] {
  const [, ...further] = [...listeners.keys()].filter((index) => listeners[index]?.binding === 'tunnel');
  return further.map((index) => ({
    path: `listeners[${index}]`,
    message: 'a router has one tunneler: only the first tunnel listener is used, not this one',
    remedy: 'keep one of them',
  }));
}

function debugging({ enableDebugOps }: RouterConfig): Unserved[] {
  if (!enableDebugOps) return [];
  return [
    {
      path: 'enableDebugOps',
      message: 'operations that change routes and links without the knowledge of the controller are not supported',
      remedy: 'remove the key; the fabric API removes circuits and links, and inspect shows them',
    },
  ];
}
