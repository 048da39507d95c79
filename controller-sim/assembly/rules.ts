// Builds the rules: memberships of policies, posture, rights of sessions, and service changes of identities.

import { Access } from '../access/access.ts';
import { ServiceChanges } from '../access/service-changes.ts';
import { Posture } from '../posture/posture.ts';
import { SessionRights } from '../posture/session-rights.ts';
import type { State } from '../state/state.ts';
import type { SimulatorContext } from './context.ts';

export interface Rules {
  readonly access: Access;
  readonly serviceChanges: ServiceChanges;
  readonly posture: Posture;
}

export function assembleRules(context: SimulatorContext, state: State): Rules {
  const { clock } = context;
  const access = context.own(new Access(state));
  const serviceChanges = context.own(new ServiceChanges({ state, access, clock }));
  const posture = context.own(new Posture({ state, access, clock }));
  context.own(new SessionRights({ state, access, posture, log: context.logOf('posture') }));
  posture.subscribe((identityId) => serviceChanges.touch(identityId));
  return { access, serviceChanges, posture };
}
