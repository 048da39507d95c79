// Entry point of the router's single executable: its command line, the process that checks a configuration
// (agent/config/load-apart.ts), or a command of the container image. Node starts a child process with this executable
// and with the path that the child's file would have; the image has links with the names of the reference's commands.

import '#lib/process/first-process.ts';
import { basename } from 'node:path';
import { ignoreUnreadableAuthorities } from './extra-authorities.ts';

ignoreUnreadableAuthorities();
const [, , file = ''] = process.argv;
const name = basename(process.argv0);
if (process.send !== undefined && basename(file) === 'load-child') {
  process.argv.splice(1, 1); // like a process that was started from a file
  await import('../../agent/config/load-child.ts');
} else if (name === 'entrypoint.bash') {
  const { runEntrypoint } = await import('../../agent/commands/entrypoint.ts');
  await runEntrypoint(process.argv.slice(2));
} else if (name === 'ziti') {
  const { runZiti } = await import('../../agent/commands/ziti.ts');
  await runZiti(process.argv.slice(2));
} else {
  await import('../../entry/router-cli.ts');
}
