// Posture checks: demands on the machine of a client.

import type { PostureCheckType, TypedDemands } from '#model/posture.ts';
import type { Named } from '../entity.ts';
import { count, type Field, flag, integer, listOf, map, name, oneOf, optional, shape, text, texts } from '../fields.ts';
import { kind } from '../kind.ts';

interface PostureCheckBase extends Named {
  readonly roleAttributes: readonly string[];
  /** Incremented by each change. */
  readonly version: number;
}

export type PostureCheck = PostureCheckBase & TypedDemands;

const PROCESS = shape({
  osType: text,
  path: text,
  hashes: texts,
  signerFingerprint: optional(text),
  signerFingerprints: optional(texts),
});

const DEMANDS: Readonly<Record<PostureCheckType, Field>> = {
  OS: shape({ operatingSystems: listOf(shape({ type: text, versions: texts })) }),
  MAC: shape({ macAddresses: texts }),
  DOMAIN: shape({ domains: texts }),
  MFA: shape({
    timeoutSeconds: integer,
    promptOnWake: flag,
    promptOnUnlock: flag,
    ignoreLegacyEndpoints: optional(flag),
  }),
  PROCESS: shape({ process: PROCESS }),
  PROCESS_MULTI: shape({ semantic: text, processes: listOf(PROCESS) }),
};

export const postureCheck = kind<PostureCheck>()({
  plural: 'posture-checks',
  store: 'postureChecks',
  unique: ['name'],
  hasRoleAttributes: true,
  fields: {
    name,
    roleAttributes: texts,
    version: count,
    typeId: oneOf(...Object.keys(DEMANDS)),
    demands: map,
  },
  demand: ({ typeId, demands }) => DEMANDS[typeId](demands, 'demands'),
  isConfigured: true,
});
