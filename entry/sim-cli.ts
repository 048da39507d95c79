// Entry point of the simulator's process.

import '#lib/process/first-process.ts';
import { runProgram } from '#lib/commands/run-program.ts';
import { simulatorProgram } from './sim-program.ts';

await runProgram(simulatorProgram());
