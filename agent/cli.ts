// Where the router's process begins.

import { runProgram } from '#lib/commands/run-program.ts';
import { routerProgram } from './commands/program.ts';

await runProgram(routerProgram());
