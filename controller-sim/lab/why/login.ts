// Explains whether an identity can log in, and which sessions it has.

import { count } from '#lib/text/count.ts';
import type { JudgeServices } from '../../auth/judge-login.ts';
import type { Identity } from '../../state/kinds/identity.ts';
import { type Explanation, explanation } from './explanation.ts';
import { good } from './finding.ts';
import { explainIdentity } from './identity.ts';

export function explainLogin(services: JudgeServices, identity: Identity): Explanation {
  const { tables } = services.state;
  const { id, name } = identity;
  const sessions = tables.apiSession.referring('identityId', id).length;
  const open =
    sessions === 0 ? [] : [good(['identity', identity], `${name} has ${count(sessions, 'open API session')}`)];
  return explanation([...explainIdentity(services, identity), ...open], `${name} can log in`, `${name} cannot log in`);
}
