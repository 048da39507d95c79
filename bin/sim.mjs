// The entry `edgeweave/sim` for `import`. It loads the simulator only if this Node can read it.

import { requireNode } from './node-version.mjs';

requireNode();
export const {
  ApiRequestError,
  createLog,
  LabInvalidError,
  LabUnknownError,
  openClient,
  OptionError,
  runLoad,
  seedController,
  SeedError,
  SharedMemory,
  startCluster,
  startNetwork,
  startRecorder,
  startReplay,
  startSimulator,
  SystemClock,
  VerificationError,
  VirtualClock,
} = await import('../dist/sim.js');
