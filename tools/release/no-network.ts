// Builds that cannot reach a network: their process has a network namespace of its own, without an interface that is
// up.

import { spawnSync } from 'node:child_process';

const UNSHARE = ['unshare', '--net'];
/** Other users than root create a network namespace only within a user namespace. */
const UNSHARE_OF_USER = ['unshare', '--user', '--map-current-user', '--net'];

/** The command and arguments that precede a program; undefined if this machine permits no namespace. */
export function withoutNetwork(): readonly string[] | undefined {
  const words = process.getuid?.() === 0 ? UNSHARE : UNSHARE_OF_USER;
  const [command = '', ...args] = words;
  return spawnSync(command, [...args, 'true'], { stdio: 'ignore' }).status === 0 ? words : undefined;
}
