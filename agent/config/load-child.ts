// The process behind load-apart.ts: checks one file, sends the result, exits.

import { loadRouterConfig } from './load.ts';

// The parent process may have exited by then.
process.send?.(loadRouterConfig(process.argv[2] ?? ''), () => process.connected && process.disconnect?.());
