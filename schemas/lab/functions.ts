// All functions of the lab, in the order of its operations and of the methods in other languages.

import { CONNECTIONS } from './connections.ts';
import { CONTROLLERS } from './controllers.ts';
import { DOCUMENTS } from './documents.ts';
import { EXPLANATIONS } from './explanations.ts';
import { FAULTS } from './faults.ts';
import type { LabFunction, LabGroup, LabType } from './function.ts';
import { JOURNAL } from './journal.ts';
import { NETWORKS } from './networks.ts';
import { SEEDS } from './seeds.ts';
import { SESSIONS } from './sessions.ts';
import { STATE } from './state.ts';
import { TIME } from './time.ts';

export const LAB_GROUPS: readonly LabGroup[] = [
  CONTROLLERS,
  TIME,
  SESSIONS,
  FAULTS,
  JOURNAL,
  NETWORKS,
  CONNECTIONS,
  STATE,
  SEEDS,
  EXPLANATIONS,
  DOCUMENTS,
];

export const LAB_FUNCTIONS: readonly LabFunction[] = LAB_GROUPS.flatMap(({ functions }) => functions);

export const LAB_BODIES: Readonly<Record<string, LabType>> = Object.assign(
  {},
  ...LAB_GROUPS.map(({ bodies }) => bodies),
);

export const LAB_ANSWERS: Readonly<Record<string, LabType>> = Object.assign(
  {},
  ...LAB_GROUPS.map(({ answers }) => answers),
);
