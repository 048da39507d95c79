// Two routers as an operator would set them up: one offers a service on a port, the other one hosts it.

import { type RouterFile, routerFileText } from '../../../agent/config/router-file.ts';
import { networkRouterFile } from '../../../testbed/router-file.ts';
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
  const own = { ctrl: { endpointsFile: `${base}.endpoints` }, edge: { db: `${base}.db` } };
  return routerFileText(networkRouterFile(base, controller, { ...own, ...more }));
}
