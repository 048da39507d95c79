// Tries the tunneler of the C SDK, `ziti-edge-tunnel`: it enrolls, and hosts a service that a client dials at another of our routers.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePorts } from '../../../examples/two-routers/ports.ts';
import { clientNetwork } from '../../support/client-network.ts';
import { until } from '../../support/overlay.ts';
import { allowRouter, ReferenceProcess } from '../../support/reference.ts';
import type { Steps } from './steps.ts';
import { carries, PATIENCE } from './traffic.ts';

export async function tryEdgeTunnel(steps: Steps, binary: string): Promise<void> {
  const [port = 0] = await freePorts(1);
  const { overlay, b } = await clientNetwork({ mode: 'proxy', services: [`echo:${port}`] });
  await using network = overlay;
  const { management, directory } = network;
  const identity = {
    name: 'host',
    type: 'Device',
    isAdmin: false,
    roleAttributes: ['host'],
    enrollment: { ott: true },
  };
  const id = await management.create('identities', identity);
  const { enrollment } = await management.get<{ enrollment: { ott: { jwt: string } } }>(`identities/${id}`);
  const file = join(directory, 'host.json');
  const token = `${file}.jwt`;
  writeFileSync(token, enrollment.ott.jwt);
  const run = (name: string, args: readonly string[]) => new ReferenceProcess(name, args, directory, { binary });
  const isEnrolled = await steps.try('enrollment', () => run('enroll', ['enroll', '-j', token, '-i', file]).done());
  if (!isEnrolled) return;
  await allowRouter(network, 'host', b);
  await network.addService('echo', id);
  await using hosting = run('host', ['run-host', '-i', file]);
  const isHosted = async () => (await management.get<unknown[]>('terminators')).length > 0;
  if (!(await steps.try('hosting at our router', () => until('a terminator', isHosted, PATIENCE)))) return;
  await steps.try('32 MiB in both directions', () => carries(port, 32));
  await steps.try('four connections at once', async () => {
    await Promise.all([4, 4, 4, 4].map((mebibytes) => carries(port, mebibytes)));
  });
  await steps.try('a running process at the end', async () => {
    if (!hosting.isRunning) throw new Error('the tunneler has ended');
  });
}
