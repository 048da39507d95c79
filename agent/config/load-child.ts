// The process behind load-apart.ts: checks one file, sends what it found, ends.

import { loadRouterConfig } from './load.ts';

// The parent process may have ended by then.
process.send?.(loadRouterConfig(process.argv[2] ?? ''), () => process.connected && process.disconnect?.());
