// Whether renewed certificates could be put in place, known long before they come: without it the router stops working when the present ones end.

import { writeObstacle } from '#lib/writable.ts';
import { parsePemSource } from './pem-source.ts';
import type { IdentityConfig } from './router-config.ts';

export interface RenewalObstacle {
  readonly key: string;
  readonly reason: string;
  readonly remedy: string;
}

/** The reasons why certificates cannot be renewed. `hasCsr` tells whether there is anything to ask for new ones with. */
export function renewalObstacles({ cert, server_cert }: IdentityConfig, hasCsr: boolean): RenewalObstacle[] {
  if (!hasCsr)
    return [{ key: 'csr', reason: 'there is no csr section to ask for new ones with', remedy: 'add csr with sans' }];
  const files = [
    ['identity.cert', cert],
    ['identity.server_cert', server_cert],
  ] as const;
  return files.flatMap(([key, value]) => {
    const source = value === undefined ? undefined : parsePemSource(value);
    if (!source) return [];
    if (source.kind === 'inline')
      return [{ key, reason: 'it is inline text', remedy: 'name a file that the router may replace' }];
    const reason = writeObstacle(source.path, { isReplaced: true });
    return reason === undefined ? [] : [{ key, reason, remedy: 'let the user of the router write to the folder' }];
  });
}
