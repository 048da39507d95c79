// Settings of a valid configuration that this version does not serve: `config check` warns of them, and the router logs them once at its start.

import { formatAddress } from '#lib/address.ts';
import type { RouterConfig } from './router-config.ts';

export interface Unserved {
  readonly path: string;
  readonly message: string;
  readonly remedy: string;
  /** The router could do nothing. */
  readonly isFatal?: boolean;
}

/** Bindings whose options circuits and their ends use. */
const EGRESS_BINDINGS: readonly string[] = ['transport', 'transport_udp', 'edge_transport', 'edge', 'tunnel'];
const LISTENERS_ONLY: readonly string[] = ['proxy', 'proxy_udp'];

/** Whether links or controllers can be listened for at an address: both need TLS over TCP. */
export function isServed({ type }: { type: string }): boolean {
  return type === 'tls';
}

/** Everything that is configured and not served, in the order of the sections. */
export function unserved(config: RouterConfig): Unserved[] {
  return [...controllers(config), ...links(config), ...dialers(config), ...tunnels(config)];
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
        message: `controllers are dialed over tls only, so ${formatAddress(address)} is never reached`,
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
      : `the binding "${binding}" is not served: no terminator with it is dialed`;
    return [{ path: `dialers[${index}].binding`, message, remedy: `known are ${EGRESS_BINDINGS.join(', ')}` }];
  });
}

function tunnels({ listeners }: RouterConfig): Unserved[] {
  const [, ...further] = [...listeners.keys()].filter((index) => listeners[index]?.binding === 'tunnel');
  return further.map((index) => ({
    path: `listeners[${index}]`,
    message: 'a router has one tunneler: the first tunnel listener counts, this one is not served',
    remedy: 'keep one of them',
  }));
}
