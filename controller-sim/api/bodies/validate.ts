// Validates bodies against their types. The rules and their compiler are loaded with the first body, so that the
// simulator starts faster.

type BodyRules = typeof import('./body-rules.ts');

let loaded: BodyRules | undefined;

async function rules(): Promise<BodyRules> {
  loaded ??= await import('./body-rules.ts');
  return loaded;
}

/** Rejects with ApiError for a body that does not match its type. Unknown fields are ignored. */
export function validateBody(type: string, body: unknown): Promise<void> | void {
  if (!loaded) return rules().then((each) => each.validateBody(type, body));
  loaded.validateBody(type, body);
}
