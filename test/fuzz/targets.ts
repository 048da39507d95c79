// All code that parses foreign bytes, as targets of the fuzzer.

import type { FuzzTarget } from './runner.ts';
import { bodyTarget } from './targets/bodies.ts';
import { certificateTargets } from './targets/certificates.ts';
import { documentTargets } from './targets/documents.ts';
import { fileTargets } from './targets/files.ts';
import { sdkTargets } from './targets/sdk.ts';
import { textTargets } from './targets/texts.ts';
import { tlsTargets } from './targets/tls.ts';
import { tokenTargets } from './targets/tokens.ts';
import { wireTargets } from './targets/wire.ts';

export async function openTargets(): Promise<FuzzTarget[]> {
  return [
    ...wireTargets(),
    ...sdkTargets(),
    ...(await certificateTargets()),
    ...textTargets(),
    bodyTarget(),
    ...(await fileTargets()),
    ...(await documentTargets()),
    ...(await tokenTargets()),
    ...(await tlsTargets()),
  ];
}
