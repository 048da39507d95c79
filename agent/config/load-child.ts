// The process behind load-apart.ts: checks one file, sends what it found, ends.

import { loadRouterConfig } from './load.ts';

process.send?.(loadRouterConfig(process.argv[2] ?? ''), () => process.disconnect?.());
