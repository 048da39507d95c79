// Operations in the API that controllers do not implement (reference fact: HTTP entities, sections 9 and 16).

import type { ApiRequest, Raw } from './context.ts';

/** `group` names the subject of the operations in the answer. */
export function notServed(group: string): (request: ApiRequest<never>) => Raw {
  return ({ operation: { id } }) => {
    const name = `${id[0]?.toUpperCase()}${id.slice(1)}`;
    const raw = JSON.stringify(`operation ${group}.${name} has not yet been implemented`);
    return { raw, contentType: 'application/json' };
  };
}
