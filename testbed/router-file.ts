// The configuration file of a router of a network for tests: its identity, its controller, and the request for its
// certificates. The caller adds what the router does. The test bed, the tests and the bench write their files with it.

import { writeFileSync } from 'node:fs';
import { type RouterFile, routerFileText } from '../agent/config/router-file.ts';

const LOOPBACK = '127.0.0.1';

/**
 * `base` begins the paths of its files: `base.yml`, `base.key` and so on; `controller` is `tls:host:port`. Sections of
 * `more` replace the others, keys of its section `ctrl` are added.
 */
export function networkRouterFile(base: string, controller: string, { ctrl, ...more }: RouterFile): RouterFile {
  return {
    v: 3,
    identity: { cert: `${base}.cert`, server_cert: `${base}.server.cert`, key: `${base}.key`, ca: `${base}.ca` },
    ctrl: { endpoint: controller, ...ctrl },
    csr: { sans: { dns: ['localhost'], ip: [LOOPBACK] } },
    edge: {},
    ...more,
  };
}

/** Returns the path of the file. */
export function writeRouterFile(base: string, controller: string, more: RouterFile): string {
  const path = `${base}.yml`;
  writeFileSync(path, routerFileText(networkRouterFile(base, controller, more)), { mode: 0o600 });
  return path;
}
