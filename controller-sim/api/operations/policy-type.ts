// The query parameter that restricts a list to services which the caller may dial, or bind.

import { invalid } from '../../errors/errors.ts';
import type { ApiRequest } from './context.ts';

const TYPES = ['Dial', 'Bind'] as const;

/**
 * @returns the value of `policyType`, regardless of case; undefined if it is missing
 * @throws ApiError for any other value
 */
export function policyType({ query }: ApiRequest<never>): 'Dial' | 'Bind' | undefined {
  const given = query.get('policyType');
  if (given === null) return undefined;
  const found = TYPES.find((each) => each.toLowerCase() === given.toLowerCase());
  if (!found) throw invalid('policyType', 'policyType in query should be one of [dial bind]', given);
  return found;
}
