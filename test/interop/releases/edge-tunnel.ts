// Tries the tunneler of the C SDK, `ziti-edge-tunnel`: it enrolls, and hosts a service that a client dials at another
// of our routers. As root, it also intercepts with a TUN device in a network namespace (edge-tunnel-run.ts).

import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createDevice } from '../../support/clients/management.ts';
import { clientNetwork } from '../../support/networks/client-network.ts';
import type { Overlay } from '../../support/networks/overlay.ts';
import { allowRouter, ReferenceProcess } from '../../support/programs/reference.ts';
import { until } from '../../support/until.ts';
import type { StepReport, Steps } from './steps.ts';
import { carries, PATIENCE } from './traffic.ts';

/** Creates an identity and enrolls it with the tunneler. Resolves with its id and file. */
export async function enrollTunnel(
  { management, directory }: Overlay,
  binary: string,
  name: string,
): Promise<{ id: string; file: string }> {
  const { id, jwt } = await createDevice(management, { name, roleAttributes: [name] });
  const file = join(directory, `${name}.json`);
  const token = `${file}.jwt`;
  writeFileSync(token, jwt);
  await new ReferenceProcess(`enroll-${name}`, ['enroll', '-j', token, '-i', file], directory, { binary }).done();
  return { id, file };
}

export async function tryEdgeTunnel(steps: Steps, binary: string): Promise<void> {
  const { overlay, b } = await clientNetwork({ mode: 'proxy', services: ['echo:0'] });
  const port = overlay.routers[0]?.proxyPort ?? 0;
  await using network = overlay;
  const { management, directory } = network;
  const run = (name: string, args: readonly string[]) => new ReferenceProcess(name, args, directory, { binary });
  let enrolled: { id: string; file: string } | undefined;
  const enroll = async () => {
    enrolled = await enrollTunnel(network, binary, 'host');
  };
  if (!(await steps.try('enrollment', enroll)) || enrolled === undefined) return;
  const { id, file } = enrolled;
  await allowRouter(network, 'host', b);
  await network.addService('echo', id);
  await using hosting = run('host', ['run-host', '-i', file]);
  const isHosted = async () => (await management.terminators.list()).length > 0;
  if (!(await steps.try('hosting at our router', () => until('a terminator', isHosted, PATIENCE)))) return;
  await steps.try('32 MiB in both directions', () => carries(port, 32));
  await steps.try('four connections at once', async () => {
    await Promise.all([4, 4, 4, 4].map((mebibytes) => carries(port, mebibytes)));
  });
  await steps.try('a running process at the end', async () => {
    if (!hosting.isRunning) throw new Error('the tunneler has ended');
  });
  await intercepts(steps, binary);
}

/**
 * The steps of edge-tunnel-run.ts. Each of its lines is a step; without a line, the trial of interception failed as a
 * whole.
 */
async function intercepts(steps: Steps, binary: string): Promise<void> {
  const script = join(import.meta.dirname, 'edge-tunnel-run.ts');
  const args = ['--net', '--mount', '--kill-child', process.execPath, script, binary];
  const { stdout, stderr } = await promisify(execFile)('unshare', args).catch(
    (error: { stdout: string; stderr: string }) => error,
  );
  const reports = stdout.split('\n').filter((line) => line !== '');
  if (reports.length === 0) await steps.try('interception with TUN', () => Promise.reject(new Error(stderr.trim())));
  for (const line of reports) {
    const { name, error } = JSON.parse(line) as StepReport;
    await steps.try(name, () => (error === undefined ? Promise.resolve() : Promise.reject(new Error(error))));
  }
}
