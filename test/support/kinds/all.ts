// Every kind of entity in the management and fabric APIs.

import { authorityKinds } from './authorities.ts';
import { identityKinds } from './identities.ts';
import type { Kind, Known } from './kind.ts';
import { policyKinds } from './policies.ts';
import { postureCheckKinds } from './posture-checks.ts';
import { routerKinds } from './routers.ts';
import { serviceKinds } from './services.ts';

export function allKinds(ids: Known): Kind[] {
  const kinds = [identityKinds, routerKinds, serviceKinds, policyKinds, authorityKinds].flatMap((kindsOf) =>
    kindsOf(ids),
  );
  return [...kinds, ...postureCheckKinds()];
}
