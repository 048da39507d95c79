// The entry `edgeweave/sim` for `import`. It loads the simulator only if this Node can read it.

import { demandNode } from './node-version.mjs';

demandNode();
export const {
  createLog,
  InvalidError,
  OptionError,
  SeedError,
  startSimulator,
  SystemClock,
  UnknownError,
  VirtualClock,
} = await import('../dist/controller-sim/index.js');
