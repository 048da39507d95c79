// Fields that controllers before 2.0.0 accept and ignore: a seed with them would never become what it says.

import type { SeedSource } from '../document.ts';
import { Mistakes } from '../mistake.ts';
import { type Entry, listOf } from '../section.ts';
import type { SectionName } from '../sections.ts';

/** reference fact (1.6.20): these are neither stored nor answered. */
const SINCE_2_0: Readonly<Partial<Record<SectionName, readonly string[]>>> = {
  edgeRouters: ['configs', 'ctrlChanListeners'],
  externalJwtSigners: [
    'enrollAttributeClaimsSelector',
    'enrollAuthPolicyId',
    'enrollNameClaimsSelector',
    'enrollToCertEnabled',
    'enrollToTokenEnabled',
  ],
  identities: ['permissions'],
  transitRouters: ['configs', 'ctrlChanListeners'],
};
/** Builds without a release call themselves v0.0.0. */
const BEFORE_2_0 = /^v?(?:0\.(?!0\.0)|1\.)/;

/** `release` as the controller names its own. @throws SeedError for fields that it ignores; empty values are not set */
export function requireKnownFields({ value, at }: SeedSource, release: string, file: string | undefined): void {
  if (!BEFORE_2_0.test(release)) return;
  const mistakes = new Mistakes();
  for (const [section, fields] of Object.entries(SINCE_2_0))
    for (const [index, entry] of listOf((value as Entry)[section]).entries())
      for (const field of fields.filter((name) => isSet((entry as Entry)[name])))
        mistakes.add(() => ({
          ...at([section, index, field]),
          message: `the controller (${release}) ignores this field; leave it out, or use a controller of 2.0.0 or later`,
        }));
  if (mistakes.count > 0) throw mistakes.error(file);
}

function isSet(value: unknown): boolean {
  if (value === undefined || value === null || value === false || value === '') return false;
  return typeof value !== 'object' || Object.keys(value).length > 0;
}
