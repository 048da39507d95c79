// Bodies against their types. The rules and what compiles them are loaded when the first body comes: a simulator that starts has none.

type BodyRules = typeof import('./body-rules.ts');

let loaded: BodyRules | undefined;

async function rules(): Promise<BodyRules> {
  loaded ??= await import('./body-rules.ts');
  return loaded;
}

/** Rejects with ApiError for a body that is not what its type wants. What the type does not know is let through. */
export function validateBody(type: string, body: unknown): Promise<void> | void {
  if (!loaded) return rules().then((each) => each.validateBody(type, body));
  loaded.validateBody(type, body);
}
