// PeerStateChanges (1050) in: the other routers and their link listeners.

import { PeerState, PeerStateChangesSchema } from '#wire/gen/control_pb.js';
import type { PeerChange } from '../../link/wanted-links.ts';
import type { ControlHandler } from '../controllers.ts';

const STATES: Readonly<Record<PeerState, PeerChange['state']>> = {
  [PeerState.HEALTHY]: 'healthy',
  [PeerState.UNHEALTHY]: 'unhealthy',
  [PeerState.REMOVED]: 'removed',
};

export function onPeerStateChanges(links: { peersChanged(changes: readonly PeerChange[]): void }): ControlHandler {
  return (_controller, message) => {
    const { changes } = message.decode(PeerStateChangesSchema);
    links.peersChanged(
      changes.map(({ id, version, state, listeners }) => ({
        id,
        version,
        state: STATES[state] ?? 'unhealthy',
        listeners: listeners.map(({ address, protocol, groups, localBinding }) => ({
          address,
          protocol,
          groups,
          localBinding,
        })),
      })),
    );
  };
}
