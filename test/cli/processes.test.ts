// The programs as processes: killed, stopped by signals, and under long load.

import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import { operatorPath } from '../../agent/operator/operator-path.ts';
import { Program } from '../../examples/two-routers/process.ts';
import { transfer } from '../../examples/two-routers/transfer.ts';
import { openManagement } from '../support/clients/management.ts';
import { RELEASE } from '../support/house/thorough.ts';
import { fixedPorts } from '../support/networks/fixed-ports.ts';
import { ending, Overlay } from '../support/networks/overlay.ts';
import { portsOfProcess, processes } from '../support/networks/processes.ts';
import { until } from '../support/until.ts';

const MIB = 1024 * 1024;
/** Circuits of 1 MiB. */
const MANY = RELEASE ? 500 : 200;
/** Kilobytes; at most half of the transferred bytes. network.test.ts measures the heap per circuit. */
const MIN_LEAK = 100_000;
/** Additional connections of links and control channels that a router may open a few seconds after its start. */
const GROUP_CONNECTIONS = 10;

t.test('kill -9 of a router: the other notices, its circuits end, and all recovers with its return', async (t) => {
  const network = await processes();
  await using overlay = network.overlay;
  const { a, b, programs, start, online, flows } = network;
  await until('traffic', flows);
  const socket = connect(a.proxyPort, '127.0.0.1');
  socket.write('hello');
  await new Promise((resolve) => socket.once('data', resolve));
  const ended = ending(socket);
  programs.b.kill();
  t.equal(await ended, 'ECONNRESET', 'its clients can tell this from the end of their streams');
  await until('b to be offline', async () => !(await online(b.id)));
  t.ok(await online(a.id), 'the other one continues');
  const again = start('b-again', b.configFile);
  await until('traffic after the return', flows);
  t.pass('traffic flows again');
  await Promise.all([programs.a.stop(), again.stop()]);
  t.equal(await programs.a.exited, 0, 'SIGTERM ends with exit code 0');
  t.same(await overlay.management.terminators.list(), [], 'a host that stops in order removes its terminators');
});

t.test(
  'kill -9 of the controller: data and certificates persist, routers reconnect, and traffic flows without their restart',
  async (t) => {
    const overlay = await Overlay.start();
    await overlay.simulator.close();
    await using _ = overlay;
    const data = join(overlay.directory, 'sim.db');
    const sim = (name: string, ...more: string[]) =>
      new Program(name, ['entry/sim-cli.ts', 'start', '--json', '--data', data, '--password', 'secret', ...more], {
        directory: overlay.directory,
      });
    const [port] = await fixedPorts(1);
    const first = sim('sim', '--port', String(port));
    const ready = JSON.parse(await first.firstLine()) as { management: string; ctrl: string; ca: string; port: number };
    await overlay.management.close();
    overlay.management = await openManagement(ready.management, readFileSync(ready.ca, 'utf8'), 'admin', 'secret');
    Object.defineProperty(overlay.simulator, 'controlAddress', { value: ready.ctrl });
    const a = await overlay.addRouter({ name: 'a', mode: 'proxy' });
    const b = await overlay.addRouter({ name: 'b', mode: 'host' });
    const service = await overlay.addService('echo', b.id);
    await overlay.ready();
    first.kill();
    await first.exited;
    t.equal(
      (await transfer(a.proxyPort, 1_000).catch(() => ({ bytes: 0 }))).bytes,
      0,
      'no new circuits without a controller',
    );
    const second = sim('sim-again');
    const again = JSON.parse(await second.firstLine()) as typeof ready;
    t.equal(again.port, ready.port, 'it listens where the routers expect it');
    await overlay.management.close();
    overlay.management = await openManagement(again.management, readFileSync(again.ca, 'utf8'), 'admin', 'secret');
    t.equal((await overlay.management.services.get(service)).name, 'echo');
    await until(
      'traffic',
      async () => (await transfer(a.proxyPort, MIB).catch(() => ({ bytes: 0 }))).bytes === MIB,
      30_000,
    );
    t.pass('traffic flows again');
    await Promise.all([a.router.close({ drain: 0 }), b.router.close({ drain: 0 })]);
    await second.stop();
    t.equal(await second.exited, 0);
  },
);

t.test('a signal to the whole process group, as from systemd and timeout, counts as one request to stop', async (t) => {
  await using overlay = await Overlay.start({ churnLimit: 0 });
  const a = await overlay.enrollRouter({ name: 'a', mode: 'proxy' });
  const b = await overlay.addRouter({ name: 'b', mode: 'host' });
  await overlay.addService('echo', b.id);
  const npm = spawn('npm', ['run', '-s', 'router', '--', 'run', a.configFile], {
    cwd: join(import.meta.dirname, '../..'),
    stdio: ['ignore', 'ignore', 'pipe'],
    detached: true, // its own process group
  });
  let log = '';
  npm.stderr.setEncoding('utf8').on('data', (text) => {
    log += text;
  });
  const exited = new Promise((resolve) => npm.once('exit', resolve));
  const ended = new Promise((resolve) => npm.stderr.once('close', resolve));
  const {
    proxy: [port = 0],
  } = await portsOfProcess(a.configFile);
  await until('traffic', async () => (await transfer(port, 1_000).catch(() => ({ bytes: 0 }))).bytes === 1_000);
  const socket = connect(port, '127.0.0.1');
  await new Promise((resolve) => socket.once('data', resolve).write('hello'));
  // All within the time in which repeats of a signal are ignored.
  for (let count = 0; count < 3; count++) {
    process.kill(-(npm.pid ?? 0), 'SIGTERM');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const answer = new Promise((resolve) => socket.once('data', resolve));
  socket.write('still there');
  t.equal(String(await answer), 'still there', 'the open circuit is drained, not closed');
  socket.end();
  t.equal(await exited, 0, log);
  await ended;
  t.equal(log.split('signal received').length - 1, 1);
  t.match(log, /router stopped/);
  t.notOk(existsSync(operatorPath(a.configFile)), 'the operator socket is removed');
});

t.test('a signal during the start ends the router with exit code 0', async (t) => {
  await using overlay = await Overlay.start({ churnLimit: 0 });
  const { configFile } = await overlay.enrollRouter({ name: 'a', mode: 'host' });
  const [program, check] = await duringCheck(configFile, overlay.directory);
  process.kill(program.pid, 'SIGTERM');
  t.equal(await program.exited, 0, program.logTail());
  t.match(program.logTail(), /^\{.*"reason":"SIGTERM","msg":"router stops before its start"\}$/);
  signalled(check, 'SIGKILL');
});

/** Stops the child process that checks a router's configuration in the middle of its work. */
async function duringCheck(configFile: string, directory: string): Promise<[router: Program, check: number]> {
  for (let attempt = 0; attempt < 10; attempt++) {
    const program = new Program(`early${attempt}`, ['entry/router-cli.ts', 'run', configFile], { directory });
    let check = 0;
    await until('the check of the configuration, or its end', () => {
      const child = Number(children(program.pid).trim().split(/\s+/)[0]);
      if (child > 0 && runsCheck(child)) check = child;
      return check > 0 || program.logTail() !== '';
    });
    const isStopped = check > 0 && signalled(check, 'SIGSTOP');
    await new Promise((resolve) => setTimeout(resolve, 500));
    if (isStopped && program.logTail() === '') return [program, check];
    program.kill(); // the check had already ended
    await program.exited.catch(() => undefined);
  }
  throw new Error('the check of the configuration always ended before it could be stopped');
}

/**
 * Between fork and exec, the child is a copy of the router, which waits for it in the kernel. Stopping it then would
 * stop the router.
 */
function runsCheck(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('load-child');
  } catch {
    return false; // it has ended
  }
}

function signalled(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false; // it has ended
  }
}

t.test('hundreds of circuits of 1 MiB do not increase memory, timers or sockets', async (t) => {
  const network = await processes();
  await using _ = network.overlay;
  const { a, b, programs, flows } = network;
  await until('traffic', flows);
  const many = async (count: number) => {
    for (let left = count; left > 0; left -= 10) {
      const done = await Promise.all(Array.from({ length: 10 }, () => transfer(a.proxyPort, MIB)));
      if (done.some(({ bytes, sha256Sent, sha256Received }) => bytes !== MIB || sha256Sent !== sha256Received))
        t.fail('a transfer differs');
    }
  };
  await many(MANY / 5);
  const before = [programs.a, programs.b].map(({ pid }) => usage(pid));
  await many(MANY);
  await until('the sockets to be closed', () =>
    [programs.a, programs.b].every(
      ({ pid }, index) => usage(pid).files <= (before[index]?.files ?? 0) + GROUP_CONNECTIONS,
    ),
  );
  for (const [index, { pid }] of [programs.a, programs.b].entries()) {
    const now = usage(pid);
    const grown = now.kilobytes - (before[index]?.kilobytes ?? 0);
    t.comment(`${grown} kB`);
    t.ok(grown < MIN_LEAK, `${index === 0 ? a.id : b.id}: ${grown} kB more than after the first ones`);
  }
  await Promise.all([programs.a.stop(), programs.b.stop()]);
  t.same([await programs.a.exited, await programs.b.exited], [0, 0]);
});

/** Resident memory and number of open files of a process. */
function usage(pid: number): { kilobytes: number; files: number } {
  const kilobytes = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
  return { kilobytes, files: readdirSync(`/proc/${pid}/fd`).length };
}

/** The running child processes of a process. */
function children(pid: number): string {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
}
