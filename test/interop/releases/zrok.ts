// Tries zrok with the simulator and our routers: its controller and two environments. One shares a port privately, the
// other one accesses it. Tunnels of zrok close both sides when one ends.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { clientNetwork } from '../../support/networks/client-network.ts';
import { fixedPorts } from '../../support/networks/fixed-ports.ts';
import { ReferenceProcess } from '../../support/programs/reference.ts';
import { until } from '../../support/until.ts';
import type { Steps } from './steps.ts';
import { carries, echo, PATIENCE } from './traffic.ts';

const ADMIN_TOKEN = 'administrator-of-the-trial';
const ACCOUNT = ['trial@example.com', 'a password of the trial'];
const SHARE = /access private (\w+)/;

export async function tryZrok(steps: Steps, binary: string): Promise<void> {
  const [apiPort = 0, accessPort = 0] = await fixedPorts(2);
  const { overlay } = await clientNetwork();
  await using network = overlay;
  const { directory, simulator } = network;
  const configFile = join(directory, 'zrok.yml');
  writeFileSync(
    configFile,
    `v: 4
admin: {secrets: [${ADMIN_TOKEN}]}
endpoint: {host: 127.0.0.1, port: ${apiPort}}
store: {type: sqlite3, path: ${join(directory, 'zrok.db')}}
ziti: {api_endpoint: "${simulator.baseUrl}", username: ${simulator.username}, password: secret}
`,
  );
  const env = { ZROK2_API_ENDPOINT: `http://127.0.0.1:${apiPort}`, ZROK2_ADMIN_TOKEN: ADMIN_TOKEN };
  let runs = 0;
  /** @param home Each environment has its own folder. */
  const zrok = (args: readonly string[], home = 'zrok-admin') => {
    const folder = join(directory, home);
    mkdirSync(folder, { recursive: true });
    return new ReferenceProcess(`zrok-${runs++}`, args, folder, { binary, env });
  };
  const bootstrap = () => zrok(['admin', 'bootstrap', configFile]).done();
  if (!(await steps.try('bootstrap of the network', bootstrap))) return;
  await using _controller = zrok(['controller', configFile]);
  let account = '';
  const createAccount = async () => {
    const isMade = async () => {
      const process = zrok(['admin', 'create', 'account', ...ACCOUNT]);
      if ((await process.exited) !== 0) return false;
      account = process.log.trim().split('\n').at(-1) ?? '';
      return true;
    };
    await until('the controller of zrok', isMade, PATIENCE);
  };
  if (!(await steps.try('its controller', createAccount))) return;
  const enable = async () => {
    for (const home of ['sharing', 'accessing']) await zrok(['enable', '--headless', account], home).done();
  };
  if (!(await steps.try('two environments', enable))) return;
  const shareArgs = ['share', 'private', '--headless', '--backend-mode', 'tcpTunnel', `127.0.0.1:${network.echo.port}`];
  await using sharing = zrok(shareArgs, 'sharing');
  const share = () => until('the share', () => SHARE.test(sharing.log), PATIENCE);
  if (!(await steps.try('a private share', share))) return;
  const [, token = ''] = SHARE.exec(sharing.log) ?? [];
  const accessArgs = ['access', 'private', '--headless', '--bind', `127.0.0.1:${accessPort}`, token];
  await using accessing = zrok(accessArgs, 'accessing');
  await steps.try('access to it, 32 MiB in both directions', () => carries(accessPort, 32, echo));
  await steps.try('four connections at once', async () => {
    await Promise.all([4, 4, 4, 4].map((mebibytes) => carries(accessPort, mebibytes, echo)));
  });
  await steps.try('running processes at the end', async () => {
    if (!sharing.isRunning || !accessing.isRunning) throw new Error('a process of zrok has ended');
  });
}
