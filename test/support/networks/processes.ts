// A network whose two routers are processes, which a test can kill, suspend and measure.

import type { RouterDescription } from '../../../agent/interface/description.ts';
import { askRouter } from '../../../agent/operator/operator-client.ts';
import { Program } from '../../../examples/two-routers/process.ts';
import { transfer } from '../../../examples/two-routers/transfer.ts';
import { webServer } from '../config/link-config.ts';
import { until } from '../until.ts';
import { Overlay } from './overlay.ts';
import { portsOf, type RouterPorts } from './router-ports.ts';

const MIB = 1024 * 1024;

/**
 * A network whose routers a (proxy) and b (host) run as processes. `port` of the service, by default an echo server.
 */
export async function processes(port?: number) {
  const overlay = await Overlay.start({ churnLimit: 0 });
  const extra = { web: [webServer(0, 'health-checks')] };
  const a = await overlay.enrollRouter({ name: 'a', mode: 'proxy', extra });
  const b = await overlay.enrollRouter({ name: 'b', mode: 'host' });
  await overlay.addService('echo', b.id, port === undefined ? {} : { port });
  const start = (name: string, configFile: string) =>
    new Program(name, ['entry/router-cli.ts', 'run', configFile], { directory: overlay.directory });
  const programs = { a: start('a', a.configFile), b: start('b', b.configFile) };
  const {
    proxy: [proxyPort = 0],
  } = await portsOfProcess(a.configFile);
  const {
    link: [linkPort = 0],
  } = await portsOfProcess(b.configFile);
  const online = async (id: string) => (await overlay.management.edgeRouters.get(id)).isOnline;
  const flows = async () => (await transfer(proxyPort, MIB).catch(() => ({ bytes: 0 }))).bytes === MIB;
  return { overlay, a: { ...a, proxyPort }, b: { ...b, linkPort }, start, online, flows, programs };
}

/** Waits until a router runs with this file, and asks it for its ports. */
export async function portsOfProcess(configFile: string): Promise<RouterPorts> {
  return portsOf(await inspectProcess(configFile));
}

/** Waits until a router runs with this file, and asks it for its state. */
export async function inspectProcess(configFile: string): Promise<RouterDescription> {
  let answer: unknown;
  await until(`a router with ${configFile}`, async () => {
    answer = await askRouter(configFile, 'inspect').catch(() => undefined); // it has not started
    return answer !== undefined;
  });
  return answer as RouterDescription;
}
