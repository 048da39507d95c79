// Entry point of the router's process. It accepts the options of the reference's `ziti router run` and `ziti router
// enroll`.

import '#lib/process/first-process.ts';
import { runProgram } from '#lib/commands/run-program.ts';
import { ownArguments } from '../agent/bootstrap/run-arguments.ts';
import { routerProgram } from '../agent/commands/program.ts';

process.argv.splice(2, Number.POSITIVE_INFINITY, ...ownArguments(process.argv.slice(2)));
await runProgram(routerProgram());
