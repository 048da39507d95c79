// Two routers as an operator would set them up: one offers a service on a port, the other one hosts it.

import { type RouterFile, routerFileText } from '../../../agent/config/router-file.ts';
import { linkListener } from './link-config.ts';

/** `a` dials links and offers `echo` on the port `echo`; `b` accepts links, and hosts services. */
export function routerPair({ echo, link = 0 }: { echo: number; link?: number }): { a: RouterFile; b: RouterFile } {
  const dialers = [{ binding: 'transport' as const }];
  return {
    a: {
      link: { dialers },
      listeners: [{ binding: 'tunnel', options: { mode: 'proxy', services: [`echo:${echo}`] } }],
    },
    b: {
      link: { dialers, listeners: [linkListener(link)] },
      listeners: [{ binding: 'tunnel', options: { mode: 'host' } }],
    },
  };
}

/**
 * The text of a configuration whose identity has its files at `base`: `base.key` and so on.
 * @param controller `tls:host:port`
 */
export function enrollableFile(base: string, controller: string, more: RouterFile): string {
  return routerFileText({
    v: 3,
    identity: { cert: `${base}.cert`, server_cert: `${base}.server.cert`, key: `${base}.key`, ca: `${base}.cas` },
    ctrl: { endpoint: controller, endpointsFile: `${base}.endpoints` },
    csr: { sans: { ip: ['127.0.0.1'] } },
    edge: { db: `${base}.db` },
    ...more,
  });
}
