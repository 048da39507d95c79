// Tries the Go SDK inside the reference's tunneler, with our routers: it enrolls, hosts at one router and dials at the
// other.

import { readFileSync } from 'node:fs';
import { clientNetwork } from '../../support/networks/client-network.ts';
import { fixedPorts } from '../../support/networks/fixed-ports.ts';
import { allowRouter, enrollIdentity, ReferenceProcess } from '../../support/programs/reference.ts';
import { until } from '../../support/until.ts';
import type { Steps } from './steps.ts';
import { carries, PATIENCE } from './traffic.ts';

/** The list of modules that Go writes into each program. */
const MODULE = /dep\tgithub\.com\/openziti\/sdk-golang\t(v[\w.+-]+)/;
const MODULE_START = 'dep\tgithub.com/openziti/sdk-golang\t';
const MODULE_LENGTH = 100;

/** The version of the SDK in a program, or undefined. */
export function goSdkIn(binary: string): string | undefined {
  const bytes = readFileSync(binary);
  const start = bytes.indexOf(MODULE_START);
  if (start < 0) return undefined;
  return MODULE.exec(bytes.toString('latin1', start, start + MODULE_LENGTH))?.[1];
}

export async function tryGoSdk(steps: Steps): Promise<void> {
  const { overlay, a, b } = await clientNetwork();
  await using network = overlay;
  let files: { host: { id: string; file: string }; client: { file: string } } | undefined;
  const enroll = async () => {
    files = { host: await enrollIdentity(network, 'host'), client: await enrollIdentity(network, 'client') };
  };
  if (!(await steps.try('enrollment', enroll)) || files === undefined) return;
  await allowRouter(network, 'host', b);
  await allowRouter(network, 'client', a);
  await network.addService('echo', files.host.id);
  const [port = 0] = await fixedPorts(1);
  const hostArgs = ['tunnel', 'host', '-i', files.host.file];
  await using hosting = new ReferenceProcess('tunnel-host', hostArgs, network.directory);
  const isHosted = async () => (await network.management.terminators.list()).length > 0;
  if (!(await steps.try('hosting at our router', () => until('a terminator', isHosted, PATIENCE)))) return;
  const proxyArgs = ['tunnel', 'proxy', `echo:${port}`, '-i', files.client.file];
  await using proxying = new ReferenceProcess('tunnel-proxy', proxyArgs, network.directory);
  await steps.try('dialing at another router, 32 MiB in both directions', () => carries(port, 32));
  await steps.try('four connections at once', async () => {
    await Promise.all([4, 4, 4, 4].map((mebibytes) => carries(port, mebibytes)));
  });
  await steps.try('running processes at the end', async () => {
    if (!hosting.isRunning || !proxying.isRunning) throw new Error('a tunneler has ended');
  });
}
