// Explains whether an identity can log in, and which sessions it has.

import { count } from '#lib/text/count.ts';
import type { Identity } from '../../state/kinds/identity.ts';
import type { Tables } from '../../state/tables.ts';
import { type Explanation, explanation } from './explanation.ts';
import { good } from './finding.ts';
import { explainIdentity } from './identity.ts';

/** `now` in milliseconds. */
export function explainLogin(tables: Tables, identity: Identity, now: number): Explanation {
  const { id, name } = identity;
  const sessions = tables.apiSession.referring('identityId', id).length;
  const open =
    sessions === 0 ? [] : [good(['identity', identity], `${name} has ${count(sessions, 'open API session')}`)];
  return explanation(
    [...explainIdentity(tables, identity, now), ...open],
    `${name} can log in`,
    `${name} cannot log in`,
  );
}
