// Describes errors of listening: the setting, the address, the holder of the port, and the remedy. All code that opens
// a port uses it.

import { describeError, errorCode, ProjectError } from '../errors.ts';
import { joinHostPort } from './address.ts';
import { ownInterfaces } from './own-interfaces.ts';
import { type Network, portHolder, THIS_PROCESS } from './port-holder.ts';

export interface ListenPlace {
  /** The setting that configures the port, for example `listeners[1].address`. */
  readonly key: string;
  readonly network: Network;
  readonly host: string;
  readonly port: number;
}

/**
 * A port cannot be opened. `code` is the system's (EADDRINUSE, EACCES, EADDRNOTAVAIL, …); `detail.holder` is the holder
 * of the port, if known.
 */
export class ListenError extends ProjectError {}

/** The code of ProtocolTakenError: another listener of this router serves the protocol on the shared port. */
const TAKEN = 'PROTOCOL_TAKEN';
const CALLS: ReadonlySet<string> = new Set(['listen', 'bind', 'getaddrinfo']);
/** Ports below this one require a privilege on Unix. */
const FIRST_UNPRIVILEGED = 1_024;
/** Limit on alternative addresses in a message. */
const MAX_OFFERED = 6;

/**
 * Opens a listener with `open`. Rejects with ListenError instead of the system's error about the port; other errors
 * pass unchanged.
 */
export async function listening<T>(place: ListenPlace, open: () => Promise<T>): Promise<T> {
  try {
    return await open();
  } catch (error) {
    throw await explained(place, error);
  }
}

async function explained({ key, network, host, port }: ListenPlace, error: unknown): Promise<unknown> {
  const code = errorCode(error) ?? '';
  const { syscall } = error as NodeJS.ErrnoException;
  if (code !== TAKEN && !CALLS.has(syscall ?? '')) return error;
  const where = `${key}: ${network} ${joinHostPort(host, port)}`;
  const detail = { syscall };
  switch (code) {
    case 'EADDRINUSE': {
      const holder = await portHolder(network, port);
      const by = holder === undefined ? '' : ` by ${holder}`;
      const remedy = holder === THIS_PROCESS ? '' : 'stop that program, or ';
      return new ListenError(code, `${where} is in use${by}; ${remedy}choose another port`, {
        detail: { ...detail, holder },
      });
    }
    case 'EACCES':
      return new ListenError(code, `${where} is not permitted; ${privilegeRemedy(port)}`, { detail });
    case 'EADDRNOTAVAIL':
      return new ListenError(code, `${where}: this machine has no address ${host}; ${addressRemedy()}`, { detail });
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return new ListenError(code, `${where}: the name ${host} has no address; ${addressRemedy()}`, { detail });
    case TAKEN:
      return new ListenError(code, `${where}: ${describeError(error)}; choose another port`, { detail });
    default:
      return new ListenError(code, `${where} cannot be listened on: ${describeError(error)}`, { detail });
  }
}

function privilegeRemedy(port: number): string {
  return port < FIRST_UNPRIVILEGED
    ? `ports below ${FIRST_UNPRIVILEGED} require the capability CAP_NET_BIND_SERVICE (AmbientCapabilities= of systemd, or setcap); or choose a port from ${FIRST_UNPRIVILEGED} on`
    : 'check for a security policy that forbids the port, or choose another one';
}

function addressRemedy(): string {
  const own = Object.values(ownInterfaces()).flatMap((addresses) => (addresses ?? []).map(({ address }) => address));
  const offered = [...new Set(own)].slice(0, MAX_OFFERED);
  return `use 0.0.0.0 for all of its addresses${offered.length > 0 ? `, or one of ${offered.join(', ')}` : ''}`;
}
