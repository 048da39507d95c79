// Where the simulator's process begins.

import { runProgram } from '#lib/commands/run-program.ts';
import { simulatorProgram } from './commands/program.ts';

await runProgram(simulatorProgram());
