// What is generated is what the schemas say now.

import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t from 'tap';
import { generateApi } from '../tools/generate-api.ts';
import { generateConfig } from '../tools/generate-config.ts';
import { numbersSource } from '../tools/generate-wire.ts';

const ROOT = dirname(import.meta.dirname);

t.test('generated files follow from the schemas; run `npm run generate` if this fails', async (t) => {
  for (const [path, content] of [
    ...generateConfig(),
    ...generateApi(),
    ['common/wire/gen/numbers.ts', numbersSource()] as const,
  ]) {
    t.equal(readFileSync(join(ROOT, path), 'utf8'), content, path);
  }
});
