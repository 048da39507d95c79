// Operations that the API names and no controller serves (reference fact: HTTP entities, sections 9 and 16).

import type { Answer, Handler } from './context.ts';

/** `group` is what the operations are about, as the answer says it. */
export function notServed(group: string): Handler {
  return ({ operation: { id } }): Answer => {
    const name = `${id[0]?.toUpperCase()}${id.slice(1)}`;
    const raw = JSON.stringify(`operation ${group}.${name} has not yet been implemented`);
    return { raw, contentType: 'application/json' };
  };
}
