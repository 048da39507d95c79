// The sections of a seed, in the order in which their entities are created: each after those to which it refers. A new
// one is a line here and its fields in schemas/sim/seed.schema.json.

import { withoutNulls } from '#lib/json/without-nulls.ts';
import { authPolicyRules } from '../../entities/auth-policy.ts';
import { builtInConfigTypes } from '../../entities/built-in.ts';
import { createCa, deleteCa, updateCa } from '../../entities/ca.ts';
import { configRules, configTypeRules } from '../../entities/config.ts';
import { createSigner, updateSigner } from '../../entities/external-jwt-signer.ts';
import { edgeRouterPolicyRules, serviceEdgeRouterPolicyRules, servicePolicyRules } from '../../entities/policy.ts';
import { postureCheckRules } from '../../entities/posture-check.ts';
import { edgeRouterRules, transitRouterRules } from '../../entities/router.ts';
import { rules } from '../../entities/rules.ts';
import { serviceRules } from '../../entities/service.ts';
import { terminatorRules } from '../../entities/terminator.ts';
import type { PostureCheck } from '../../state/kinds/posture-check.ts';
import { isHosted } from '../../state/kinds/terminator.ts';
import { identities } from './identities.ts';
import {
  type Section as AnySection,
  type Described,
  described,
  type Fields,
  filled,
  listOf,
  sectionOf,
} from './section.ts';

/** Ids and names: another controller may have other ids. */
const BUILT_IN = new Set(
  builtInConfigTypes((id) => ({ id, createdAt: '', updatedAt: '', tags: {}, isSystem: true })).flatMap(
    ({ id, name }) => [id, name],
  ),
);

/** An administrator writes seeds, so its authorities and signers vouch for administrators. */
const caRules = rules('ca', {
  create: (transaction, id, body) => createCa(transaction, id, body, true),
  update: (transaction, ca, body) => updateCa(transaction, ca, body, true),
  remove: deleteCa,
});
const signerRules = rules('externalJwtSigner', {
  create: (transaction, id, body) => createSigner(transaction, id, body, true),
  update: (transaction, signer, body) => updateSigner(transaction, signer, body, true),
});

const LIST = {
  configTypes: described(configTypeRules, { isExported: ({ id, name }) => !BUILT_IN.has(id) && !BUILT_IN.has(name) }),
  configs: described(configRules, { fixed: ['configType'] }),
  certificateAuthorities: described(caRules, {
    fixed: ['certPem'],
    defaults: {
      identityRoles: [],
      isAuthEnabled: false,
      isAutoCaEnrollmentEnabled: false,
      isOttCaEnrollmentEnabled: false,
    },
    complete: (transaction, id, { isVerified }) => {
      if (isVerified === true) transaction.patch('ca', id, { isVerified: true });
    },
  }),
  externalJwtSigners: described(signerRules, {
    later: ['enrollAuthPolicyId', 'enrollToCertEnabled', 'enrollToTokenEnabled'],
    // As the reference writes it; every network has this policy under this id.
    entry: ({ enrollAuthPolicyId }) => (enrollAuthPolicyId === 'default' ? { enrollAuthPolicyId } : {}),
  }),
  authPolicies: described(authPolicyRules, {
    defaults: { 'primary.extJwt.allowedSigners': [], 'secondary.requireTotp': false },
  }),
  services: described(serviceRules, { fixed: ['encryptionRequired'] }),
  postureChecks: described(postureCheckRules, {
    fixed: ['typeId'],
    body: (body) => ({
      ...body,
      ...(Array.isArray(body.operatingSystems) && {
        operatingSystems: listOf(body.operatingSystems).map((system) => ({
          versions: [],
          ...withoutNulls(system as Fields),
        })),
      }),
    }),
    entry: demands,
  }),
  edgeRouters: described(edgeRouterRules, { word: 'edge router', bodyType: 'edgeRouterCreate', hasShortId: true }),
  transitRouters: described(transitRouterRules, {
    word: 'transit router',
    hasShortId: true,
    isExported: ({ isEdge }) => !isEdge,
  }),
  identities,
  servicePolicies: described(servicePolicyRules),
  edgeRouterPolicies: described(edgeRouterPolicyRules),
  serviceEdgeRouterPolicies: described(serviceEdgeRouterPolicyRules),
  /** Only those of administrators. They have no names, so a changed one is another one. */
  terminators: described(terminatorRules, {
    defaults: { binding: '' },
    update: undefined,
    isExported: (terminator, { service }) =>
      !isHosted(terminator) && service.get(terminator.serviceId)?.isFabricOnly === false,
    entry: ({ instanceId }) => filled({ identity: instanceId }),
  }),
};

export type SectionName = keyof typeof LIST;

export interface Section extends AnySection {
  readonly name: SectionName;
}

/** Without flags that are off, as the reference writes them. */
function demands(check: PostureCheck): Fields {
  if (check.typeId === 'PROCESS') return { process: filled(check.demands.process) };
  if (check.typeId === 'MFA') return filled(check.demands);
  return { ...check.demands };
}

export const SECTIONS: readonly Section[] = (Object.keys(LIST) as SectionName[]).map((name) => ({
  ...sectionOf(name, LIST[name] as Described),
  name,
}));
