// `npm run generate`: generates all files that depend on schemas/, and those with the version. The messages need
// protoc; test/house/generated.test.ts fails if a generated file is outdated.

import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { print, ROOT } from './commands.ts';
import { generateApi } from './generate/api.ts';
import { generateClients } from './generate/clients.ts';
import { generateConfig } from './generate/config.ts';
import { withDeclarations } from './generate/declarations.ts';
import { LAB_INTERFACE, labInterface } from './generate/lab-interface.ts';
import { generateLabReference } from './generate/lab-reference.ts';
import { generateLimits } from './generate/limits.ts';
import { generatePackageReport } from './generate/package-report.ts';
import { generateVersions } from './generate/versions.ts';
import { generateMessages, numbersSource } from './generate/wire.ts';

const [lab, report] = withDeclarations((read) => {
  const text = labInterface(read);
  const declared = text.replaceAll(/^ +/gm, '$&$&'); // as the compiler indents
  return [text, generatePackageReport((file) => (file === LAB_INTERFACE ? declared : read(file)))] as const;
});
const files = new Map([
  ...generateConfig(),
  ...generateApi(),
  ...generateLimits(),
  ...generateClients(),
  [`${LAB_INTERFACE}.ts`, lab],
  ...generateLabReference(lab),
  report,
  ...generateVersions(),
  ['common/wire/gen/numbers.ts', numbersSource()],
]);
for (const [path, content] of files) {
  mkdirSync(dirname(join(ROOT, path)), { recursive: true });
  writeFileSync(join(ROOT, path), content);
  print(path);
}
generateMessages();
