// Every kind of entity that can be made through the management and fabric APIs.

import { authorityKinds } from './authorities.ts';
import { identityKinds } from './identities.ts';
import type { Kind, Known } from './kind.ts';
import { policyKinds } from './policies.ts';
import { postureCheckKinds } from './posture-checks.ts';
import { routerKinds } from './routers.ts';
import { serviceKinds } from './services.ts';

export function allKinds(ids: Known): Kind[] {
  const made = [identityKinds, routerKinds, serviceKinds, policyKinds, authorityKinds].flatMap((kinds) => kinds(ids));
  return [...made, ...postureCheckKinds()];
}
