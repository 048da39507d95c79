// Notifications of a daemon to its service manager.

import { readFileSync } from 'node:fs';
import t from 'tap';
import { NotifySocket } from '../../../test/support/programs/notify-socket.ts';
import { createLog, silentLog } from '../log/log.ts';
import { VirtualClock } from '../time/clock.ts';
import { ServiceManager } from './service-manager.ts';

function logged() {
  const lines: Record<string, unknown>[] = [];
  const log = createLog({ level: 'debug', format: 'json', write: (line) => lines.push(JSON.parse(line)) });
  return { lines, log };
}

for (const [kind, name] of [
  ['a path', undefined],
  ['a name without a file', `@edgeweave-test-${process.pid}`],
] as const) {
  t.test(`readiness, status, reload, stop and watchdog messages reach ${kind}`, async (t) => {
    const socket = new NotifySocket(name);
    t.teardown(() => socket.close());
    const clock = new VirtualClock();
    const environment = {
      NOTIFY_SOCKET: socket.path,
      WATCHDOG_USEC: '60000000',
      WATCHDOG_PID: String(process.pid),
      A: 'b',
    };
    const manager = new ServiceManager({ clock, log: silentLog, environment });
    t.same(environment, { A: 'b' }, 'child processes are not the service');
    let status = '0 links';
    manager.ready(() => status);
    t.same(socket.read(), [['READY=1', 'STATUS=0 links']]);
    await clock.advance(29_999);
    t.same(socket.read(), [], 'an unchanged status is not sent again');
    await clock.advance(1);
    t.same(socket.read(), [['WATCHDOG=1']], 'twice per watchdog interval');
    status = '1 link\nREADY=1';
    await clock.advance(5_000);
    t.same(socket.read(), [['STATUS=1 link READY=1']], 'a status is one line');
    manager.reloading();
    manager.reloaded();
    const [reloading, reloaded] = socket.read();
    t.match(reloading, ['RELOADING=1', /^MONOTONIC_USEC=\d+$/]);
    t.same(reloaded, ['READY=1']);
    manager.stopping(50_000);
    t.same(socket.read(), [['STOPPING=1', 'EXTEND_TIMEOUT_USEC=60000000']]);
    await clock.advance(25_000);
    t.same(socket.read(), [['WATCHDOG=1']], 'the watchdog continues until the end');
    manager.close();
    t.same(clock.timers(), []);
  });
}

t.test('a slow manager receives all messages later', async (t) => {
  const socket = new NotifySocket();
  t.teardown(() => socket.close());
  const clock = new VirtualClock();
  const { lines, log } = logged();
  const manager = new ServiceManager({ clock, log, environment: { NOTIFY_SOCKET: socket.path } });
  const held = Number(readFileSync('/proc/sys/net/unix/max_dgram_qlen', 'utf8'));
  const sent = 3 * held;
  for (let i = 0; i < sent; i += 1) manager.reloaded();
  const first = socket.read().length;
  t.ok(first < sent, `${first} of ${sent}`);
  let received = first;
  for (let i = 0; i < 20 && received < sent; i += 1) {
    await clock.advance(200);
    received += socket.read().length;
  }
  t.equal(received, sent);
  t.same(lines, []);
  manager.close();
});

t.test('a slow manager receives messages in their order', async (t) => {
  const socket = new NotifySocket();
  t.teardown(() => socket.close());
  const clock = new VirtualClock();
  const manager = new ServiceManager({ clock, log: silentLog, environment: { NOTIFY_SOCKET: socket.path } });
  const held = Number(readFileSync('/proc/sys/net/unix/max_dgram_qlen', 'utf8'));
  for (let i = 0; i < 3 * held; i += 1) manager.reloaded();
  manager.reloading();
  const received = socket.read();
  manager.reloaded();
  for (let i = 0; i < 5; i += 1) {
    await clock.advance(200);
    received.push(...socket.read());
  }
  t.match(received.at(-2)?.[0], 'RELOADING=1');
  t.same(received.at(-1), ['READY=1']);
  t.equal(received.length, 3 * held + 2);
  manager.close();
  t.same(clock.timers(), []);
});

t.test('a missing manager is logged once', async (t) => {
  const socket = new NotifySocket();
  const clock = new VirtualClock();
  const { lines, log } = logged();
  const environment = { NOTIFY_SOCKET: socket.path, WATCHDOG_USEC: '1000000' };
  const manager = new ServiceManager({ clock, log, environment });
  socket.close();
  manager.ready(() => 'fine');
  await clock.advance(60_000);
  t.equal(lines.length, 1);
  t.match(lines[0], { msg: 'service manager cannot be notified', error: /ENOENT|ECONNREFUSED/ });
  manager.close();
  t.same(clock.timers(), []);
});

t.test('an invalid environment is logged', async (t) => {
  const socket = new NotifySocket();
  t.teardown(() => socket.close());
  const clock = new VirtualClock();
  for (const [environment, error] of [
    [{ NOTIFY_SOCKET: 'vsock:2:9999' }, /vsock:2:9999 is neither a path nor/],
    [{ NOTIFY_SOCKET: `/${'x'.repeat(200)}` }, /at most 107 bytes/],
    [{ NOTIFY_SOCKET: socket.path, WATCHDOG_USEC: 'soon' }, /WATCHDOG_USEC=soon is not a number/],
    [{ NOTIFY_SOCKET: socket.path, WATCHDOG_USEC: '-5' }, /WATCHDOG_USEC=-5 is not a number above 0/],
  ] as const) {
    const { lines, log } = logged();
    const manager = new ServiceManager({ clock, log, environment: { ...environment } });
    t.match(lines, [{ error }]);
    manager.ready(() => 'fine');
    manager.close();
  }
  t.same(clock.timers(), []);
});

t.test('without a manager, or in a process that it does not watch, the watchdog is off', async (t) => {
  const socket = new NotifySocket();
  t.teardown(() => socket.close());
  const clock = new VirtualClock();
  for (const environment of [{}, { NOTIFY_SOCKET: socket.path, WATCHDOG_USEC: '1000000', WATCHDOG_PID: '1' }]) {
    const manager = new ServiceManager({ clock, log: silentLog, environment });
    await clock.advance(5_000);
    t.same(clock.timers(), []);
    manager.close();
  }
  t.same(socket.read(), []);
});
