// Tries `ziti-edge-tunnel run`, which intercepts with a TUN device, in a network namespace of its own: intercepts by
// name and address, its name server, hosting in the same process. edge-tunnel.ts starts it; each step is a line of JSON
// on the standard output.

import { execFile } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { clientNetwork } from '../../support/networks/client-network.ts';
import { run } from '../../support/networks/network-namespace.ts';
import { allowRouter, ReferenceProcess } from '../../support/programs/reference.ts';
import { until } from '../../support/until.ts';
import { enrollTunnel } from './edge-tunnel.ts';
import type { StepReport } from './steps.ts';
import { carries, PATIENCE } from './traffic.ts';

const execute = promisify(execFile);
/** The address of its name server, in its default range. */
const NAME_SERVER = '100.64.0.2';
/** Seconds for one request. */
const MAX_REQUEST_SECONDS = '5';

const [binary = ''] = process.argv.slice(2);
await main();

/** Prints how a step went. A failed one does not end the trial. */
async function step(name: string, task: () => Promise<unknown>): Promise<void> {
  const error = await task().then(
    () => undefined,
    (cause: Error) => cause.message,
  );
  const report: StepReport = error === undefined ? { name } : { name, error };
  process.stdout.write(`${JSON.stringify(report)}\n`);
}

async function main(): Promise<void> {
  run('ip', 'link', 'set', 'lo', 'up');
  const { overlay, a, b } = await clientNetwork({ mode: 'proxy', services: ['echo:0'] });
  const proxyPort = overlay.routers[0]?.proxyPort ?? 0;
  await using network = overlay;
  const { id, file } = await enrollTunnel(network, binary, 'laptop');
  await allowRouter(network, 'laptop', a);
  const web = createServer((request, response) => response.end(request.headers.host)).listen(0, '127.0.0.1');
  await once(web, 'listening');
  const echo = createSocket('udp4').bind(0, '127.0.0.1');
  await once(echo, 'listening');
  echo.on('message', (data, { port, address }) => echo.send(data, port, address));
  const addresses = ['web.example', '*.wild.example', '10.77.0.1'];
  const portRanges = [{ low: 80, high: 80 }];
  await network.addService('web', b, {
    port: (web.address() as AddressInfo).port,
    configs: { 'intercept.v1': { protocols: ['tcp'], addresses, portRanges } },
  });
  await network.addService('udp', b, {
    host: { protocol: 'udp', address: '127.0.0.1', port: echo.address().port },
    configs: {
      'intercept.v1': { protocols: ['udp'], addresses: ['10.77.0.2'], portRanges: [{ low: 7_000, high: 7_000 }] },
    },
  });
  await network.addService('echo', id);
  await using running = new ReferenceProcess('tunnel-run', ['run', '-i', file], network.directory, { binary });
  await step('the name server of a TUN device', async () => {
    await until('an address', async () => (await addressOf('web.example')) !== '', PATIENCE);
    if ((await addressOf('a.wild.example')) === '') throw new Error('no address for a wildcard');
    if ((await addressOf('other.example')) !== '') throw new Error('an address for a name without a service');
  });
  await step('TCP by name, wildcard and address', async () => {
    for (const host of ['web.example', 'b.wild.example', '10.77.0.1']) {
      const address = host.startsWith('10.') ? host : await addressOf(host);
      const answers = async () => (await fetched(host, address).catch(() => '')) === host;
      await until(`an answer of ${host} at ${address}`, answers, PATIENCE);
    }
  });
  await step('UDP', async () => {
    const client = createSocket('udp4');
    let answer = '';
    client.on('message', (data) => {
      answer = String(data);
    });
    const isAnswered = () => {
      client.send('question', 7_000, '10.77.0.2');
      return answer === 'question';
    };
    await until('an answer', isAnswered, PATIENCE).finally(() => client.close());
  });
  await step('hosting in the same process', () => carries(proxyPort, 4));
  await step('an intercept that ends with its policy', async () => {
    const policies = await network.management.servicePolicies.list();
    await network.management.servicePolicies.delete(policies.find(({ name }) => name === 'web-dial')?.id ?? '');
    await until('the name to be gone', async () => (await addressOf('web.example')) === '', PATIENCE);
    if (!running.isRunning) throw new Error('the tunneler has ended');
  });
  web.close();
  echo.close();
}

async function addressOf(name: string): Promise<string> {
  const args = ['+short', '+time=2', '+tries=1', `@${NAME_SERVER}`, name];
  const { stdout } = await execute('dig', args).catch(() => ({ stdout: '' }));
  return /^[\d.]+$/m.exec(stdout)?.[0] ?? '';
}

async function fetched(host: string, address: string): Promise<string> {
  const url = `http://${address}/`;
  const args = ['--silent', '--show-error', '--max-time', MAX_REQUEST_SECONDS, '--header', `Host: ${host}`, url];
  return (await execute('curl', args)).stdout;
}
