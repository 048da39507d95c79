// Values that are not shown: keys, passwords, and credentials in addresses. Findings are redacted in one place after all
// checks, so that no check has to know which of its words is a secret.

import type { ConfigSchema } from '../../schemas/config/schema.ts';
import type { Finding } from './finding.ts';
import { parsePemSource } from './pem-source.ts';

export const HIDDEN = '(hidden)';

/** Shorter texts stand in too many words that are not secret. */
const SHORTEST_SECRET = 3;
/** A key that somebody wrote in the place of its file. */
const KEY_TEXT = /^[\w+/=-]{40,}$|\s/;
const CREDENTIALS = /\/\/[^/@\s]+@/g;

/** How a value is shown. Secrets are hidden, but not where a key lies. */
export function shownValue(value: unknown, schema: ConfigSchema): unknown {
  if (!schema['x-secret']) return typeof value === 'string' ? withoutCredentials(value) : value;
  if (schema['x-source'] !== 'pem' || typeof value !== 'string' || KEY_TEXT.test(value)) return HIDDEN;
  try {
    return parsePemSource(value).kind === 'file' ? value : HIDDEN;
  } catch {
    return HIDDEN; // another form, such as the URL of a key engine, which may hold a PIN
  }
}

export interface Secret {
  readonly path: string;
  /** The value, and how the file has it when it comes out of the environment. */
  readonly texts: readonly string[];
}

/** Findings without the texts of secrets. */
export function redacted(findings: readonly Finding[], secrets: readonly Secret[]): Finding[] {
  const texts = secrets.flatMap((secret) => secret.texts).filter((text) => text.length >= SHORTEST_SECRET);
  const paths = new Set(secrets.map(({ path }) => path));
  const redact = (words: string) =>
    texts.reduce((text, secret) => text.replaceAll(secret, HIDDEN), withoutCredentials(words));
  return findings.map((each) => {
    const { code, path, message, hint } = each;
    // The name of a variable is a piece of the value.
    if (code === 'CFG-ENVIRONMENT' && paths.has(path))
      return { ...each, message: 'an environment variable in this value is not set, so nothing stands in its place' };
    return { ...each, message: redact(message), hint: redact(hint) };
  });
}

function withoutCredentials(text: string): string {
  return text.replace(CREDENTIALS, `//${HIDDEN}@`);
}
