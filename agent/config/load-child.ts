// The process behind load-apart.ts: checks one file, sends what it found, ends.

import { loadRouterConfig } from './load.ts';

// Who asked may be gone by then.
process.send?.(loadRouterConfig(process.argv[2] ?? ''), () => process.connected && process.disconnect?.());
