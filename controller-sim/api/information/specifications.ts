// The OpenAPI documents as clients read them. Everybody may read them and they never change, so each form is written
// once: building and writing the largest one takes 20 ms.

import type { ApiName } from '#schemas/api/operations.ts';

/** `plain` for programs, `indented` for people. */
type Form = 'plain' | 'indented';

const written = new Map<string, Promise<Buffer>>();

/** Always returns the same object, which the server therefore compresses once. */
export function specification(api: ApiName, form: Form): Promise<Buffer> {
  const key = `${api} ${form}`;
  const known = written.get(key);
  if (known) return known;
  const made = write(api, form);
  written.set(key, made);
  return made;
}

/** Imports the schemas of all bodies and answers on demand. */
async function write(api: ApiName, form: Form): Promise<Buffer> {
  const { openApiDocument } = await import('./openapi.ts');
  return Buffer.from(JSON.stringify(openApiDocument(api), null, form === 'plain' ? 0 : 2));
}
