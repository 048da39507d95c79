// Addresses of the simulator: one port for routers and clients, stored with the data.

import { joinHostPort } from '#lib/net/address.ts';
import { Listener } from '../listener/listener.ts';
import type { State } from '../state/state.ts';
import { memberKey } from '../state/store/shared-store.ts';
import { DamagedError } from '../state/store/store.ts';
import type { SimulatorContext } from './context.ts';
import type { Data } from './data.ts';
import { hostNames } from './options.ts';

const Meta = { Port: 'listener.port', ControllerId: 'controller.id' } as const;

export interface Addresses {
  readonly listener: Listener;
  /** `https://host:port`. */
  readonly baseUrl: string;
  /** `tls:host:port`, for routers. */
  readonly controlAddress: string;
  readonly controllerId: string;
}

/** Rejects with the system's error if the port is in use. */
export async function openListener(
  context: SimulatorContext,
  { state, authority, memberId }: Data,
): Promise<Addresses> {
  const { options, io, ids } = context;
  const portKey = memberId === undefined ? Meta.Port : memberKey(Meta.Port, memberId);
  const listener = context.own(
    await Listener.open(
      {
        io,
        host: options.host ?? '127.0.0.1',
        port: rememberedPort(state, portKey, options.port),
        log: context.logOf('listener'),
      },
      authority,
    ),
  );
  const address = joinHostPort(hostNames(options)[0], listener.port);
  const controllerId = memberId ?? state.meta(Meta.ControllerId) ?? `ctrl-${ids.short()}`;
  await state.putMeta(
    new Map([
      [portKey, String(listener.port)],
      ...(memberId === undefined ? [[Meta.ControllerId, controllerId] as const] : []),
    ]),
  );
  return { listener, baseUrl: `https://${address}`, controlAddress: `tls:${address}`, controllerId };
}

/** Routers store the address of their controller, so a restarted simulator listens on the same port. */
function rememberedPort(state: State, key: string, wanted: number | undefined): number {
  if (wanted !== undefined && wanted !== 0) return wanted;
  const remembered = state.meta(key) ?? '0';
  if (!/^\d{1,5}$/.test(remembered)) throw new DamagedError('meta', key, 'the value is not a port');
  return Number(remembered);
}

/** API addresses for routers and cluster peers: name to URLs. */
export function apiAddresses(baseUrl: string): Readonly<Record<string, readonly { url: string; version: string }[]>> {
  const at = (path: string) => [{ url: `${baseUrl}${path}`, version: 'v1' }];
  return {
    'edge-client': at('/edge/client/v1'),
    'edge-management': at('/edge/management/v1'),
    'edge-oidc': at('/oidc'),
  };
}
