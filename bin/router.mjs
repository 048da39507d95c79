// The entry `edgeweave/router` for `import`. It loads the router only if this Node can read it.

import { demandNode } from './node-version.mjs';

demandNode();
export const { checkRouterConfig, ConfigurationError, createLog, enrollRouter, OptionError, startRouter } =
  await import('../dist/router.js');
