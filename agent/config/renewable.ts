// Checks early whether renewed certificates could be installed: otherwise the router stops working when the current
// ones expire.

import { resolve } from 'node:path';
import { linkedFile } from '#lib/files/symbolic-links.ts';
import { writeObstacle } from '#lib/files/writable.ts';
import { parsePemSource } from './pem-source.ts';
import type { IdentityConfig } from './router-config.ts';

export interface RenewalObstacle {
  readonly key: string;
  readonly reason: string;
  readonly remedy: string;
}

/** The obstacles to a renewal. `hasCsr`: the configuration has a csr section, which requests need. */
export function renewalObstacles(identity: IdentityConfig, hasCsr: boolean): RenewalObstacle[] {
  if (!hasCsr)
    return [{ key: 'csr', reason: 'there is no csr section to request new ones', remedy: 'add csr with sans' }];
  if (areOneFile(identity))
    return [
      {
        key: 'identity.server_cert',
        reason: 'it is the file of identity.cert, but renewed certificates are two',
        remedy: 'use a separate file',
      },
    ];
  const files = [
    ['identity.cert', identity.cert],
    ['identity.server_cert', identity.server_cert],
  ] as const;
  return files.flatMap(([key, value]) => {
    const source = value === undefined ? undefined : parsePemSource(value);
    if (!source) return [];
    if (source.kind === 'inline')
      return [{ key, reason: 'it is inline text', remedy: 'use a file that the router can replace' }];
    const reason = writeObstacle(linkedFile(source.path), { isReplaced: true });
    return reason === undefined ? [] : [{ key, reason, remedy: 'allow the user of the router to write to the folder' }];
  });
}

/** Whether both certificates are in the same file. */
export function areOneFile({ cert, server_cert }: Pick<IdentityConfig, 'cert' | 'server_cert'>): boolean {
  const [client, server] = [cert, server_cert].map((value) =>
    value === undefined ? undefined : parsePemSource(value),
  );
  if (client?.kind !== 'file' || server?.kind !== 'file') return false;
  return resolve(linkedFile(client.path)) === resolve(linkedFile(server.path));
}
