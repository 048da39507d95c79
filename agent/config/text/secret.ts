// Values that are hidden: keys, passwords, and credentials in addresses. Findings are redacted in one place after all
// checks, so that no check needs to know which values are secret.

import type { ConfigSchema } from '../../../schemas/config/schema.ts';
import type { Finding } from '../finding.ts';
import { parsePemSource } from '../pem-source.ts';

export const HIDDEN = '(hidden)';

/** Shorter texts are part of too many ordinary words. */
const MIN_SECRET_LENGTH = 3;
/** A key in place of its file name. */
const KEY_TEXT = /^[\w+/=-]{40,}$|\s/;
const CREDENTIALS = /\/\/[^/@\s]+@/g;

/** The printable form of a value. Secrets are hidden, but not the path of a key. */
export function visibleValue(value: unknown, schema: ConfigSchema): unknown {
  if (!schema['x-secret']) return typeof value === 'string' ? withoutCredentials(value) : value;
  if (schema['x-source'] !== 'pem' || typeof value !== 'string' || KEY_TEXT.test(value)) return HIDDEN;
  try {
    return parsePemSource(value).kind === 'file' ? value : HIDDEN;
  } catch {
    return HIDDEN; // another form, for example the URL of a key engine, which may contain a PIN
  }
}

export interface Secret {
  readonly path: string;
  /** The value, and its text in the file if it comes from the environment. */
  readonly texts: readonly string[];
}

/** Returns the findings without the texts of secrets. */
export function redacted(findings: readonly Finding[], secrets: readonly Secret[]): Finding[] {
  const texts = new Set(secrets.flatMap((secret) => secret.texts).filter((text) => text.length >= MIN_SECRET_LENGTH));
  const paths = new Set(secrets.map(({ path }) => path));
  const redact = (words: string) =>
    [...texts].reduce((text, secret) => text.replaceAll(secret, HIDDEN), withoutCredentials(words));
  return findings.map((each) => {
    const { code, path, message, hint } = each;
    // The name of a variable is part of the value.
    if (code === 'CFG-ENVIRONMENT' && paths.has(path))
      return { ...each, message: 'an environment variable in this value is not set and is replaced by nothing' };
    return { ...each, message: redact(message), hint: redact(hint) };
  });
}

function withoutCredentials(text: string): string {
  return text.replace(CREDENTIALS, `//${HIDDEN}@`);
}
