// Entry point of the router's single executable: its command line, or the process that checks a configuration
// (agent/config/load-apart.ts). Node starts a child process with this executable and with the path that the child's
// file would have.

import { basename } from 'node:path';
import { ignoreUnreadableAuthorities } from './extra-authorities.ts';

ignoreUnreadableAuthorities();
const [, , file = ''] = process.argv;
if (process.send !== undefined && basename(file) === 'load-child') {
  process.argv.splice(1, 1); // like a process that was started from a file
  await import('../../agent/config/load-child.ts');
} else {
  await import('../../agent/cli.ts');
}
