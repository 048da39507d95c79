// The single executables remove NODE_EXTRA_CA_CERTS if its file cannot be read, and name the file in this variable.

import type { Log } from '../log/log.ts';

export const UNREADABLE_AUTHORITIES = 'EDGEWEAVE_UNREADABLE_CA_CERTS';

/** Logs a warning for daemons, which may need the authorities. */
export function reportUnreadableAuthorities(log: Log): void {
  const file = process.env[UNREADABLE_AUTHORITIES];
  if (file)
    log.warn(
      { file, remedy: 'correct or unset NODE_EXTRA_CA_CERTS' },
      'the authorities of NODE_EXTRA_CA_CERTS are not trusted: the file cannot be read',
    );
}
