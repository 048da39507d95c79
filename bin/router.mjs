// The entry `edgeweave/router` for `import`. It loads the router only if this Node can read it.

import { requireNode } from './node-version.mjs';

requireNode();
export const { checkRouterConfig, ConfigurationError, createLog, enrollRouter, OptionError, startRouter } =
  await import('../dist/router.js');
