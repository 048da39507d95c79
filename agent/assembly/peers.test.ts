// The hosts that interception leaves out.

import t from 'tap';
import type { RouterConfig } from '../config/router-config.ts';
import { peersOf } from './peers.ts';

t.test('controllers, wanted and present links, and the proxy, with names and addresses of both families', (t) => {
  const config = {
    proxy: { type: 'http', address: { host: 'proxy.example', port: 8_080 } },
  } as unknown as RouterConfig;
  const controllers = {
    all: [{ address: 'tls:ctrl.example:1280' }],
    notConnected: [{ endpoints: ['tls:10.0.0.2:1280', 'tls:[fd00::2]:1280'] }],
  };
  const links = {
    wanted: { describe: () => [{ address: 'tls:10.0.0.3:6000' }] },
    registry: {
      links: [{ connections: [{ remoteAddr: 'tcp:10.0.0.4:40000' }, { remoteAddr: 'tcp:::ffff:10.0.0.5:40001' }] }],
    },
  };
  type Arguments = Parameters<typeof peersOf>;
  const peers = [...peersOf(config, controllers as unknown as Arguments[1], links as unknown as Arguments[2])];
  t.same(peers, ['proxy.example', 'ctrl.example', '10.0.0.2', 'fd00::2', '10.0.0.3', '10.0.0.4', '10.0.0.5']);
  t.end();
});
