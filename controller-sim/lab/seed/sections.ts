// The sections of a seed, in the order in which their entities are created: each after those to which it refers.

import { inWords } from '../../state/kinds.ts';
import type { Section as Described } from './section.ts';
import { authPolicies } from './sections/auth-policies.ts';
import { certificateAuthorities } from './sections/certificate-authorities.ts';
import { configTypes } from './sections/config-types.ts';
import { configs } from './sections/configs.ts';
import { edgeRouters } from './sections/edge-routers.ts';
import { externalJwtSigners } from './sections/external-jwt-signers.ts';
import { identities } from './sections/identities.ts';
import { edgeRouterPolicies, serviceEdgeRouterPolicies, servicePolicies } from './sections/policies.ts';
import { postureChecks } from './sections/posture-checks.ts';
import { services } from './sections/services.ts';
import { terminators } from './sections/terminators.ts';
import { transitRouters } from './sections/transit-routers.ts';

const LIST = {
  configTypes,
  configs,
  certificateAuthorities,
  externalJwtSigners,
  authPolicies,
  services,
  postureChecks,
  edgeRouters,
  transitRouters,
  identities,
  servicePolicies,
  edgeRouterPolicies,
  serviceEdgeRouterPolicies,
  terminators,
};

export type SectionName = keyof typeof LIST;

export interface Section extends Described {
  readonly name: SectionName;
  readonly word: string;
}

export const SECTIONS: readonly Section[] = (Object.keys(LIST) as SectionName[]).map((name) => {
  const described = LIST[name] as Described;
  return { ...described, name, word: described.word ?? inWords(described.kind) };
});
