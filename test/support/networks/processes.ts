// A network whose two routers are processes, which a test can kill, suspend and measure.

import { freePorts } from '../../../examples/two-routers/ports.ts';
import { Program } from '../../../examples/two-routers/process.ts';
import { transfer } from '../../../examples/two-routers/transfer.ts';
import { webServer } from '../config/link-config.ts';
import { Overlay } from './overlay.ts';

const MIB = 1024 * 1024;

/**
 * A network whose routers a (proxy) and b (host) run as processes. `port` of the service, by default an echo server.
 */
export async function processes(port?: number) {
  const overlay = await Overlay.start({ churnLimit: 0 });
  const [webPort = 0] = await freePorts(1);
  const extra = { web: [webServer(webPort, 'health-checks')] };
  const a = await overlay.enrollRouter({ name: 'a', mode: 'proxy', extra });
  const b = await overlay.enrollRouter({ name: 'b', mode: 'host' });
  await overlay.addService('echo', b.id, port === undefined ? {} : { port });
  const start = (name: string, configFile: string) =>
    new Program(name, ['entry/router-cli.ts', 'run', configFile], { directory: overlay.directory });
  const online = async (id: string) => (await overlay.management.edgeRouters.get(id)).isOnline;
  const flows = async () => (await transfer(a.proxyPort, MIB).catch(() => ({ bytes: 0 }))).bytes === MIB;
  return {
    overlay,
    a,
    b,
    start,
    online,
    flows,
    programs: { a: start('a', a.configFile), b: start('b', b.configFile) },
  };
}
