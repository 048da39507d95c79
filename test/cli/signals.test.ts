// Signals that daemons get from terminals, operators and service managers.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { Program } from '../../examples/two-routers/process.ts';
import { transfer } from '../../examples/two-routers/transfer.ts';
import { Overlay } from '../support/networks/overlay.ts';
import { portsOfProcess } from '../support/networks/processes.ts';
import { until } from '../support/until.ts';

const ROOT = join(import.meta.dirname, '../..');
/** Longer than the time in which a repeated signal is ignored. */
const NO_ECHO = 1_200;

function linesOf(file: string): Record<string, unknown>[] {
  if (!existsSync(file)) return [];
  const text = readFileSync(file, 'utf8');
  return text
    .slice(0, text.lastIndexOf('\n') + 1)
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

/** Replaces a file atomically, like editors do: a running reload reads the old or the new text. */
function replace(file: string, text: string): void {
  writeFileSync(`${file}.new`, text);
  renameSync(`${file}.new`, file);
}

t.test('only termination signals stop a running router', { timeout: 60_000 }, async (t) => {
  await using overlay = await Overlay.start({ churnLimit: 0 });
  const b = await overlay.addRouter({ name: 'b', mode: 'host' });
  const { configFile } = await overlay.enrollRouter({ name: 'a', mode: 'proxy' });
  const log = join(overlay.directory, 'a.json');
  const trace = join(overlay.directory, 'a.trace');
  writeFileSync(configFile, `${readFileSync(configFile, 'utf8')}\ntrace: {path: "${trace}"}\n`);
  const args = ['entry/router-cli.ts', 'run', configFile, '--log-file', log, '--drain-seconds', '50'];
  const a = new Program('a', args, { directory: overlay.directory });
  t.teardown(() => a.kill());
  const said = (msg: string) => linesOf(log).filter((line) => line.msg === msg);
  await until('the router', () => said('controller connected').length === 1);
  await overlay.addService('echo', b.id);
  const {
    proxy: [proxyPort = 0],
  } = await portsOfProcess(configFile);
  await until('traffic', async () => (await transfer(proxyPort, 1).catch(() => ({ bytes: 0 }))).bytes === 1);
  const socket = connect(proxyPort, '127.0.0.1');
  socket.on('error', () => undefined);
  socket.write('hello');
  await Promise.race([once(socket, 'data'), once(socket, 'close').then(() => t.fail('no circuit'))]);

  await t.test('SIGHUP reopens the log files and loads the certificates', async (t) => {
    renameSync(log, `${log}.1`);
    renameSync(trace, `${trace}.1`);
    process.kill(a.pid, 'SIGHUP');
    await until('a new log', () => said('identity reloaded').length === 1);
    t.equal(said('reload').length, 1);
    t.ok(existsSync(trace), 'a new trace');
    t.equal(linesOf(`${log}.1`).filter(({ msg }) => msg === 'reload').length, 0, 'the old file keeps its lines');
  });

  await t.test('SIGHUP logs changes that need a restart, and errors in the configuration', async (t) => {
    const before = readFileSync(configFile, 'utf8');
    replace(configFile, `${before}forwarder: {faultTxInterval: 7000}\n`);
    process.kill(a.pid, 'SIGHUP');
    await until('the difference', () => said('configuration has changed, a restart is required').length > 0);
    t.match(said('configuration has changed, a restart is required')[0], { paths: ['forwarder.faultTxInterval'] });
    replace(configFile, before.replace('v: 3', 'v: x'));
    process.kill(a.pid, 'SIGHUP');
    const errors = 'configuration has errors, the router would not start with it';
    await until('the error', () => said(errors).length > 0);
    t.match(said(errors)[0], { line: 1, path: 'v' });
    replace(configFile, before);
  });

  await t.test('SIGUSR1 and SIGUSR2 are ignored', async (t) => {
    for (const signal of ['SIGUSR1', 'SIGUSR2'] as const) process.kill(a.pid, signal);
    socket.write('still there');
    t.equal(String((await once(socket, 'data'))[0]), 'still there');
    t.notMatch(readFileSync(a.logFile, 'utf8'), /Debugger/);
  });

  await t.test('SIGQUIT writes a report, and the router continues', async (t) => {
    process.kill(a.pid, 'SIGQUIT');
    await until('the report', () => said('diagnostic report').length === 1);
    const text = [said('diagnostic report')[0]?.report].flat().join('\n');
    t.match(text, /^router: \S+, 1 controller, 1 link, \d+ circuits?\nevent loop: .*\nprocess: pid \d+, up \d+ s/);
    t.match(text, /\ntimers:\n {2}\d+ /);
    t.match(text, /\nopen:\n {2}\d+ /);
    t.notMatch(text, /PATH=|HOME=/, 'no environment');
    socket.write('still there');
    t.equal(String((await once(socket, 'data'))[0]), 'still there');
    t.equal(said('signal received').length, 0);
  });

  await t.test('the second SIGTERM ends the drain', async (t) => {
    process.kill(a.pid, 'SIGTERM');
    process.kill(a.pid, 'SIGINT'); // at once: the time in which repeats are ignored is short on a busy machine
    await until('the drain', () => said('signal received').length === 1);
    await sleep(NO_ECHO);
    t.equal(said('router stopped').length, 0, 'a repetition of the first is ignored, and the circuit is open');
    process.kill(a.pid, 'SIGTERM');
    t.equal(await a.exited, 0);
    t.equal(said('router stops waiting for circuits').length, 1);
    t.match(said('controller disconnected'), [{ level: 'info', reason: 'this router stops' }], 'no warning');
  });
});

t.test('a third signal ends a process whose stop hangs', async (t) => {
  const program = `import { stopSignals } from '#lib/process/stop-signal.ts';
const { first, second } = stopSignals();
setInterval(() => {}, 60_000);
second.addEventListener('abort', () => console.log('second'));
console.log('up');
console.log(await first);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], { cwd: ROOT });
  const exited = once(child, 'exit');
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async () => (await lines.next()).value;
  t.equal(await next(), 'up');
  child.kill('SIGINT');
  t.equal(await next(), 'SIGINT');
  child.kill('SIGTERM');
  await sleep(NO_ECHO);
  child.kill('SIGTERM');
  t.equal(await next(), 'second');
  await sleep(NO_ECHO);
  child.kill('SIGINT');
  t.same(await exited, [null, 'SIGINT']);
});

t.test(
  'a stop signal that is held takes effect after the work, a further one at once',
  { timeout: 60_000 },
  async (t) => {
    const program = `import { holdStopSignals } from '#lib/process/stop-signal.ts';
{
  await using held = holdStopSignals((signal) => console.log('held', signal));
  console.log('up');
  await new Promise((resolve) => process.stdin.once('data', resolve));
  console.log('done');
}
process.exit(3);`;
    const start = async () => {
      const child = spawn(process.execPath, ['--input-type=module', '-e', program], { cwd: ROOT });
      t.teardown(() => child.kill('SIGKILL'));
      const exited = once(child, 'exit');
      const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
      const next = async () => (await lines.next()).value as string | undefined;
      t.equal(await next(), 'up');
      child.kill('SIGTERM');
      t.equal(await next(), 'held SIGTERM');
      return { child, exited, next };
    };
    const patient = await start();
    patient.child.kill('SIGINT'); // a repeat
    patient.child.stdin.write('\n');
    t.equal(await patient.next(), 'done');
    t.equal(await patient.next(), undefined);
    t.same(await patient.exited, [null, 'SIGTERM']);
    const impatient = await start();
    await sleep(NO_ECHO);
    impatient.child.kill('SIGINT');
    t.same(await impatient.exited, [null, 'SIGTERM']);
    t.equal(await impatient.next(), undefined);
  },
);

t.test('the simulator reopens its log file and its events file', async (t) => {
  const directory = t.testdir();
  const log = join(directory, 'sim.json');
  const events = join(directory, 'events.json');
  const args = ['entry/sim-cli.ts', 'start', '--json', '--log-file', log];
  const sim = new Program('sim', [...args, '--events-file', events], { directory });
  t.teardown(() => sim.kill());
  t.match(JSON.parse(await sim.firstLine()), { event: 'ready' });
  for (const file of [log, events]) renameSync(file, `${file}.1`);
  for (const signal of ['SIGUSR1', 'SIGUSR2', 'SIGHUP'] as const) process.kill(sim.pid, signal);
  await until('new files', () => existsSync(log) && existsSync(events));
  process.kill(sim.pid, 'SIGQUIT');
  await until('the report', () => linesOf(log).length === 1);
  process.kill(sim.pid, 'SIGTERM');
  t.equal(await sim.exited, 0);
  t.match(linesOf(log), [{ msg: 'diagnostic report', report: [/^event loop: /] }, { msg: 'simulator stops' }]);
  const missing = new Program('missing', [...args.slice(0, -1), join(directory, 'no', 'sim.json')], { directory });
  t.equal(await missing.exited, 1);
  t.match(
    missing.logTail(),
    /the simulator cannot start: the log file .*no\/sim\.json: the folder .*no does not exist; create it/,
  );
});
