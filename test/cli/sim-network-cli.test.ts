// `sim network` and the commands for a running network, as a test in another language uses them.

import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { Program } from '../../examples/two-routers/process.ts';
import { EchoServer } from '../../examples/two-routers/transfer.ts';
import { runProgram } from '../support/programs/run.ts';

const folder = mkdtempSync(join(tmpdir(), 'edgeweave-test-'));
t.teardown(() => rmSync(folder, { recursive: true }));

interface Ready {
  readonly event: string;
  readonly routers: readonly { readonly name: string; readonly edge: string; readonly config: string }[];
}

async function echoed(address: string, text: string): Promise<string> {
  const [host = '', port] = address.trim().split(':');
  const socket = connect({ host, port: Number(port) }).setEncoding('utf8');
  socket.end(text);
  let received = '';
  for await (const chunk of socket) received += chunk;
  return received;
}

t.test('a network for tests in any language: routers, a service, its address, an identity', async (t) => {
  using echo = await EchoServer.start();
  const program = new Program('network', ['entry/sim-cli.ts', 'network', '--routers', '2', '--json'], {
    directory: folder,
  });
  const line = await program.firstLine();
  const { event, routers } = JSON.parse(line) as Ready;
  t.equal(event, 'ready');
  t.match(routers, [
    { name: 'a', edge: /^tls:127\.0\.0\.1:[1-9]\d*$/ },
    { name: 'b', edge: /^tls:127\.0\.0\.1:[1-9]\d*$/ },
  ]);
  const ready = join(folder, 'ready.json');
  writeFileSync(ready, line);
  const sim = (...args: string[]) => runProgram(['entry/sim-cli.ts', ...args, '--ready', ready]);

  const created = await sim('service', 'echo', '--router', 'b', '--to', String(echo.port));
  t.match(created, { code: 0, stdout: /^127\.0\.0\.1:\d+\n$/, stderr: '' });
  t.equal(await echoed(created.stdout, 'through two routers'), 'through two routers');
  t.match(await sim('service', 'echo', '--router', 'b', '--to', '1'), { code: 1, stderr: /the service echo exists/ });
  t.match(await sim('service', 'other', '--router', 'b', '--to', 'nowhere'), { code: 2, stderr: /Use HOST:PORT/ });

  const output = join(folder, 'anna.json');
  t.match(await sim('identity', 'anna', '--role', 'staff', '--output', output), { code: 0, stdout: '', stderr: '' });
  t.equal(statSync(output).mode & 0o777, 0o600);
  t.match(JSON.parse(readFileSync(output, 'utf8')), { ztAPI: /\/edge\/client\/v1$/, id: { cert: /^pem:-----BEGIN/ } });
  t.match(await sim('why', 'dial', 'anna', 'echo'), { code: 0 });
  t.match(await sim('identity', 'anna'), { code: 0, stdout: /^\{"ztAPI":/ });
  t.match(await sim('token', 'anna'), { code: 1, stderr: /anna has no enrollment token/ });
  await program.stop();
  t.equal(await program.exited, 0);
  t.throws(() => statSync(routers[0]?.config ?? ''), { code: 'ENOENT' }, 'the folders of the routers are removed');
});

t.test('wrong counts and names of routers are reported before anything starts', async (t) => {
  const table: [routers: string, message: RegExp][] = [
    ['0', /whole number from 1 to 26/],
    ['27', /whole number from 1 to 26/],
    ['a,a', /Each name must be unique/],
    ['a,../b', /letters, digits, dots/],
  ];
  for (const [routers, message] of table) {
    const { code, stdout, stderr } = await runProgram(['entry/sim-cli.ts', 'network', '--routers', routers]);
    t.same({ code, stdout }, { code: 2, stdout: '' }, routers);
    t.match(stderr, message, routers);
  }
});
