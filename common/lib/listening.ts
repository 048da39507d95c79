// Errors of listening in words: which setting, which address, who holds the port, what to do. Used by everything that opens a port.

import { networkInterfaces } from 'node:os';
import { joinHostPort } from './address.ts';
import { describeError, errorCode, ProjectError } from './errors.ts';
import { type Network, portHolder, THIS_PROCESS } from './port-holder.ts';

export interface ListenPlace {
  /** The setting that asks for the port, such as `listeners[1].address`. */
  readonly key: string;
  readonly network: Network;
  readonly host: string;
  readonly port: number;
}

/** A port cannot be opened. `code` is the system's (EADDRINUSE, EACCES, EADDRNOTAVAIL, …); `detail.holder` is who has the port, where known. */
export class ListenError extends ProjectError {}

/** The code of ProtocolTakenError: another listener of this router serves the protocol on the shared port. */
const TAKEN = 'PROTOCOL_TAKEN';
const CALLS: ReadonlySet<string> = new Set(['listen', 'bind', 'getaddrinfo']);
/** Ports below this one need a privilege on Unix. */
const FIRST_UNPRIVILEGED = 1_024;
/** Addresses that are offered instead of one that this machine does not have. */
const MOST_OFFERED = 6;

/** Opens a listener with `open`. Rejects with ListenError in place of the system's error about the port; other errors go on as they are. */
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
    ? `ports below ${FIRST_UNPRIVILEGED} need the capability CAP_NET_BIND_SERVICE (AmbientCapabilities= of systemd, or setcap); or choose a port from ${FIRST_UNPRIVILEGED} on`
    : 'look for a security policy that forbids the port, or choose another one';
}

function addressRemedy(): string {
  const own = Object.values(networkInterfaces()).flatMap((addresses) =>
    (addresses ?? []).map(({ address }) => address),
  );
  const offered = [...new Set(own)].slice(0, MOST_OFFERED);
  return `give 0.0.0.0 for all of its addresses${offered.length > 0 ? `, or one of ${offered.join(', ')}` : ''}`;
}
