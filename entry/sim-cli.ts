// Entry point of the simulator's process.

import { runProgram } from '#lib/commands/run-program.ts';
import { simulatorProgram } from './sim-program.ts';

await runProgram(simulatorProgram());
