// A link in the form of the inspection `links`. The reference capitalizes the field names of its connections.

import type { PathInspection } from '#wire/path/channel-path.ts';
import type { Link } from './link.ts';

export interface LinkInspection {
  readonly id: string;
  readonly iteration: number;
  readonly key: string;
  readonly split: boolean;
  readonly protocol: string;
  readonly dialAddress: string;
  readonly dest: string;
  readonly destVersion: string;
  readonly dialed: boolean;
  /** Number of connections by type. */
  readonly underlays: Readonly<Record<string, number>>;
  readonly connections: readonly { readonly Type: string; readonly Source: string; readonly Dest: string }[];
  readonly connStateIteration: number;
  /** Not in the reference: the path as the router sees it. Undefined where the system does not tell its state. */
  readonly path: PathInspection | undefined;
  /** Not in the reference: payloads that wait for the path. */
  readonly waiting: {
    readonly circuits: number;
    readonly payloads: number;
    readonly bytes: number;
    readonly largest: readonly { readonly circuitId: string; readonly bytes: number }[];
  };
}

export function inspectLink(link: Link): LinkInspection {
  const { connections, waiting } = link;
  const byType = Object.entries(Object.groupBy(connections, ({ type }) => type));
  return {
    id: link.id,
    iteration: link.iteration,
    key: link.key,
    split: link.isSplit,
    protocol: link.protocol,
    dialAddress: link.dialAddress,
    dest: link.peerId,
    destVersion: link.peerVersion,
    dialed: link.dialed,
    underlays: Object.fromEntries(byType.map(([type, each]) => [type, each?.length ?? 0])),
    connections: connections.map(({ type, localAddr, remoteAddr }) => ({
      Type: type,
      Source: localAddr,
      Dest: remoteAddr,
    })),
    connStateIteration: link.connectionsIteration,
    path: link.path,
    waiting: {
      circuits: waiting?.flows ?? 0,
      payloads: waiting?.frames ?? 0,
      bytes: waiting?.bytes ?? 0,
      largest: (waiting?.largest ?? []).map(({ flow, bytes }) => ({ circuitId: String(flow), bytes })),
    },
  };
}
