// Whether a controller is connected: circuits and the knowledge of other routers depend on it.

import type { Controller } from '../control/controller.ts';
import type { Controllers } from '../control/controllers.ts';
import { bad, blocker, good, type Reason } from './reason.ts';

export interface KnownControllers extends Pick<Controllers, 'notConnected'> {
  readonly all: readonly Pick<Controller, 'id'>[];
}

export function explainControllers({ all, notConnected }: KnownControllers): Reason[] {
  const others = notConnected.map(({ id, endpoints, problem }) => {
    const { endpoint = endpoints[0], error = 'it was not dialed yet', likely, remedy } = problem ?? {};
    const message = [`the controller ${id || endpoint} is not connected: ${error}`, likely].filter(Boolean).join('; ');
    return bad(message, remedy ?? 'the router tries again by itself; see `edgeweave-router inspect`');
  });
  if (all.length > 0) return [good(`connected to ${all.map(({ id }) => id).join(', ')}`), ...others];
  if (others.length === 0)
    return [blocker('no controller is known', 'set ctrl.endpoint or ctrl.endpoints, or enroll the router')];
  return others.map((each) => ({ ...each, blocking: true }));
}
