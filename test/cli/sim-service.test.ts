// The commands beside `edgeweave-sim.service` find its ready line without an option, in a mount namespace.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { inOwnNamespace, run } from '../support/networks/network-namespace.ts';
import { NotifySocket } from '../support/programs/notify-socket.ts';
import { runProgram } from '../support/programs/run.ts';
import { until } from '../support/until.ts';

const ROOT = join(import.meta.dirname, '../..');
const UNIT = join(ROOT, 'examples/service/edgeweave-sim.service');

if (await inOwnNamespace(import.meta.filename, ['mount', 'ip'])) await tests();

async function tests(): Promise<void> {
  const { default: t } = await import('tap');
  run('ip', 'link', 'set', 'lo', 'up');
  run('mount', '-t', 'tmpfs', 'tmpfs', '/run');
  const [, file = ''] = /^Environment=EDGEWEAVE_SIM_READY_FILE=(.*)$/m.exec(readFileSync(UNIT, 'utf8')) ?? [];
  const notify = new NotifySocket();
  t.teardown(() => notify.close());
  const [, folder = ''] = /^RuntimeDirectory=(.*)$/m.exec(readFileSync(UNIT, 'utf8')) ?? [];

  await t.test('health and identity need no option beside a running service', async (t) => {
    const sim = (...args: string[]) => runProgram(['entry/sim-cli.ts', ...args], { env: { EDGEWEAVE_SIM_READY: '' } });
    t.match(await sim('health'), { code: 1, stderr: /--ready is missing/ });
    mkdirSync(join('/run', folder));
    const child = spawn(process.execPath, ['entry/sim-cli.ts', 'start', '--port', '0'], {
      cwd: ROOT,
      stdio: 'ignore',
      env: { PATH: process.env.PATH, EDGEWEAVE_SIM_READY_FILE: file, NOTIFY_SOCKET: notify.path },
    });
    t.teardown(() => child.kill('SIGKILL'));
    t.match(readFileSync(UNIT, 'utf8'), /^Type=notify$/m, 'systemctl waits for the notification');
    const notified: string[] = [];
    await until('the notification', () => {
      notified.push(...notify.read().flat());
      return notified.includes('READY=1');
    });
    t.ok(existsSync(file), 'the next command finds the ready line');
    t.match(await sim('health'), { code: 0, stdout: 'ready\n' });
    t.match(await sim('identity', 'anna'), { code: 0, stdout: /^{"ztAPI/ });
    const elsewhere = await sim('identity', 'anna', '--url', 'https://127.0.0.1:1');
    t.match(
      elsewhere,
      { code: 1, stderr: /is missing/ },
      'another address does not get the credentials of the service',
    );
    child.kill('SIGTERM');
    t.same(await once(child, 'exit'), [0, null]);
    t.match(await sim('health'), { code: 1, stderr: /--ready is missing/ });
  });
}
