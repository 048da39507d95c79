// Entry point of the router's process.

import { runProgram } from '#lib/commands/run-program.ts';
import { routerProgram } from './commands/program.ts';

await runProgram(routerProgram());
