// The lab rejects query parameters and fields that it does not know: a mistyped filter would match everything. The APIs
// of the reference ignore them.

import { meantOrKnown } from '#lib/text/suggestion.ts';
import { BODY_SCHEMAS } from '#schemas/api/body-schemas.ts';
import { invalid } from '../../errors/errors.ts';
import type { ApiRequest } from '../operations/context.ts';

/** @throws ApiError that names the first unknown parameter or field of a request to the lab */
export function checkNames({ operation, query, body }: ApiRequest<never>): void {
  if (operation.api !== 'lab') return;
  const parameters = operation.query.map(({ name }) => name);
  demand([...query.keys()], parameters, `${operation.id} has no query parameters`);
  const type = operation.body?.type ?? '';
  const { checksFields, hasDocument } = operation.lab ?? {};
  if (checksFields || hasDocument || typeof body !== 'object' || body === null) return;
  const fields = Object.keys(BODY_SCHEMAS[type]?.properties ?? {});
  demand(Object.keys(body), fields, `${operation.id} has no body`);
}

function demand(given: readonly string[], known: readonly string[], none: string): void {
  for (const name of given)
    if (!known.includes(name))
      throw invalid(name, `${name} is unknown; ${known.length === 0 ? none : meantOrKnown(name, known)}`, '');
}
