// The text of an exported network.

import { yamlText } from '#lib/text/yaml-text.ts';
import type { SeedDocument } from './export.ts';
import type { SeedFormat } from './format-names.ts';

/** The same network always gives the same text. */
export function seedText(document: SeedDocument, format: SeedFormat = 'yaml'): string {
  if (format === 'json') return `${JSON.stringify(document, undefined, 2)}\n`;
  // Without anchors and folded lines. Texts that YAML 1.1 reads as other types are quoted: the reference reads it.
  return yamlText(document, { aliasDuplicateObjects: false, lineWidth: 0, compat: 'yaml-1.1' });
}
