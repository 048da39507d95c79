// All functions of the lab, in the order of its operations and of the methods in other languages.

import { CONNECTIONS } from './connections.ts';
import { DOCUMENTS } from './documents.ts';
import { EXPLANATIONS } from './explanations.ts';
import type { LabFunction, LabGroup, LabType } from './function.ts';
import { NETWORKS } from './networks.ts';
import { SEEDS } from './seeds.ts';
import { STATE } from './state.ts';

export const LAB_GROUPS: readonly LabGroup[] = [NETWORKS, CONNECTIONS, STATE, SEEDS, EXPLANATIONS, DOCUMENTS];

export const LAB_FUNCTIONS: readonly LabFunction[] = LAB_GROUPS.flatMap(({ functions }) => functions);

export const LAB_BODIES: Readonly<Record<string, LabType>> = Object.assign(
  {},
  ...LAB_GROUPS.map(({ bodies }) => bodies),
);

export const LAB_ANSWERS: Readonly<Record<string, LabType>> = Object.assign(
  {},
  ...LAB_GROUPS.map(({ answers }) => answers),
);
