// Checks a fault: its kind, the fields of all kinds, then those of its own.

import { isMap } from '#lib/json/is-map.ts';
import { delayOf, given, requireFields, requireTexts, requireWholeNumbers, requireWord } from '../input.ts';
import { InvalidError } from '../lab-error.ts';
import { CONNECTION_FIELDS, checkedConnection } from './connection-rule.ts';
import { CONTROL_FIELDS, checkedControl } from './control-rule.ts';
import type { NewFault, Rule } from './fault.ts';
import { checkedHttp, HTTP_FIELDS } from './http-rule.ts';
import { checkedStore, STORE_FIELDS } from './store-rule.ts';

const COMMON_FIELDS = ['kind', 'times', 'probability', 'lasts', 'scope'];
/** Milliseconds. */
const MAX_LASTS_MS = 3_600_000;

type Kind = NewFault['kind'];

export const FAULT_FIELDS: Readonly<Record<Kind, readonly string[]>> = {
  http: [...COMMON_FIELDS, ...HTTP_FIELDS],
  control: [...COMMON_FIELDS, ...CONTROL_FIELDS],
  link: [...COMMON_FIELDS, 'router', 'peer', ...CONNECTION_FIELDS],
  sdk: [...COMMON_FIELDS, 'router', ...CONNECTION_FIELDS],
  proxy: [...COMMON_FIELDS, 'proxy', ...CONNECTION_FIELDS],
  store: [...COMMON_FIELDS, ...STORE_FIELDS],
};

const CHECKS: Readonly<Record<Kind, (fault: never) => Rule>> = {
  http: checkedHttp,
  control: checkedControl,
  link: checkedConnection,
  sdk: checkedConnection,
  proxy: checkedConnection,
  store: checkedStore,
};

/** Returns an own copy without undefined fields. @throws InvalidError that names the field */
export function checkedFault(added: NewFault): Rule {
  if (!isMap(added)) throw new InvalidError('fault', 'use an object', added);
  const fault = given(added);
  const { kind, scope, lasts } = fault;
  if (typeof kind !== 'string') throw new InvalidError('kind', `use ${Object.keys(CHECKS).join(', ')}`, kind);
  requireWord('kind', kind, Object.keys(CHECKS));
  requireFields(fault, FAULT_FIELDS[kind], `a fault of the kind ${kind} has no`);
  requireTexts({ scope });
  checkCommon(fault);
  const common = lasts === undefined ? {} : { lasts: delayOf('lasts', lasts, MAX_LASTS_MS) };
  return CHECKS[kind]({ ...fault, ...common } as never);
}

function checkCommon({ times, probability }: NewFault): void {
  requireWholeNumbers({ times }, 1);
  if (probability !== undefined && !(typeof probability === 'number' && probability >= 0 && probability <= 1))
    throw new InvalidError('probability', 'use a number from 0 to 1', probability);
}
