// The content of the router's image: what starts in the place of the reference's image, with its names (reference fact:
// dist/docker-images/ziti-router).

import type { Contents } from './contents.ts';

/** The user of the reference's image: a volume that it has written stays readable. */
const USER = 2171;
const HOME = 'ziti-router';

export const ROUTER_IMAGE: Contents = {
  name: 'edgeweave-router',
  title: 'Router of an OpenZiti overlay network',
  /** A shell for probes; the others are for mode `tproxy`. Program or path → Debian package. */
  programs: {
    sh: 'dash',
    ip: 'iproute2',
    nft: 'nftables',
    iptables: 'iptables',
    'usr/lib/TRIPLET/xtables/libxt_mark.so': 'iptables',
    'usr/lib/TRIPLET/xtables/libxt_standard.so': 'iptables',
  },
  user: { name: 'ziggy', id: USER },
  home: HOME,
  links: {
    'entrypoint.bash': '/usr/local/bin/edgeweave-router',
    'usr/local/bin/ziti': 'edgeweave-router',
  },
  config: {
    User: `${USER}:${USER}`,
    WorkingDir: `/${HOME}`,
    Entrypoint: ['/entrypoint.bash'],
    Env: [
      'PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
      'MALLOC_ARENA_MAX=1',
      `HOME=/${HOME}`,
      `ZITI_HOME=/${HOME}`,
      'ZITI_BOOTSTRAP=true',
      'ZITI_BOOTSTRAP_CONFIG=true',
      'ZITI_BOOTSTRAP_ENROLLMENT=true',
      'ZITI_ROUTER_NAME=router',
      'ZITI_ROUTER_TYPE=edge',
      'ZITI_ROUTER_PORT=3022',
      'ZITI_ROUTER_MODE=host',
      'ZITI_AUTO_RENEW_CERTS=true',
    ],
    ExposedPorts: { '3022/tcp': {} },
    StopSignal: 'SIGTERM',
  },
};
