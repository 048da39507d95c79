// The process behind load-apart.ts: checks one file, sends the result, exits.

import { loadRouterConfig } from './load.ts';

const [, , file = '', options = '{}'] = process.argv;
// The parent process may have exited by then.
process.send?.(loadRouterConfig(file, JSON.parse(options)), () => process.connected && process.disconnect?.());
