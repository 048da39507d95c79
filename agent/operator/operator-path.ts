// Where the operator socket of a router is: in a folder of the user's own, under a name that follows from the configuration file.

import { createHash } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

/** A user of a container need not have a name, so nothing asks for one. Windows has no such numbers, and a folder for each user. */
const USER_ID = process.getuid?.() ?? -1;

/** The path of a Unix socket must be short, so it holds a hash of the file's path. */
export function operatorPath(configFile: string): string {
  const hash = createHash('sha256').update(realPath(configFile)).digest('hex').slice(0, 16);
  return join(tmpdir(), `edgeweave-${USER_ID}`, `${hash}.sock`);
}

/** Where the reference's command line looks for the agent of this process. */
export function agentLink(): string {
  return join(tmpdir(), `gops-agent.${process.pid}.sock`);
}

function realPath(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    return resolve(file); // the caller learns that no router runs with a file that does not exist
  }
}
