// The requests of a draining router to its controller: in order, retried after failures, and reverted after a crash.

import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { silentLog } from '#lib/log/log.ts';
import { VirtualClock } from '#lib/time/clock.ts';
import { ControlType } from '#wire/gen/numbers.ts';
import { type Message, resultMessage } from '#wire/message.ts';
import { Drain } from './drain.ts';
import { QuiesceMarker } from './quiesce-marker.ts';

const { Quiesce, Dequiesce } = ControlType;
const turns = () => new Promise((resolve) => setTimeout(resolve, 5));

const folder = mkdtempSync(join(tmpdir(), 'edgeweave-drain-'));
t.teardown(() => rmSync(folder, { recursive: true }));

/** One run of a router with this marker file. */
function run(path: string) {
  const asked: number[] = [];
  const all: unknown[] = [];
  let onConnect: () => void = () => undefined;
  const state = { fails: false };
  const leader = {
    requestResult: async ({ contentType }: Message) => {
      asked.push(contentType);
      await turns();
      if (state.fails) throw new Error('the controller failed');
      return resultMessage(true, 'done');
    },
  };
  const clock = new VirtualClock();
  const drain = new Drain({
    clock,
    log: silentLog,
    controllers: { all, leader, onConnect: (listener) => (onConnect = listener) },
    ends: { count: 0, whenEmpty: async () => true },
    terminators: undefined,
    marker: new QuiesceMarker(path, silentLog),
    circuits: () => 0,
    onChange: () => undefined,
  });
  const connect = async () => {
    all.push({});
    onConnect();
    await turns();
    await turns();
  };
  return { clock, drain, asked, state, connect };
}

t.test('a router that was killed while it drained restores its terminators, once', async (t) => {
  const path = join(folder, 'killed');
  const first = run(path);
  await first.connect();
  t.same(first.asked, [], 'a router that never drained asks for nothing');
  first.drain.begin({ quiesce: true });
  await turns();
  t.ok(existsSync(path), 'recorded before the answer');
  const second = run(path);
  await second.connect();
  t.same(second.asked, [Dequiesce]);
  t.notOk(existsSync(path));
  await second.connect();
  t.same(second.asked, [Dequiesce]);
});

t.test('a restart that drains again at once stays quiesced; a clean stop leaves no record', async (t) => {
  const path = join(folder, 'again');
  run(path).drain.begin({ quiesce: true });
  new QuiesceMarker(path, silentLog).set();
  const { drain, asked, connect } = run(path);
  drain.begin({ quiesce: true });
  await connect();
  t.same(asked, [Quiesce]);
  await drain.close();
  t.same(asked, [Quiesce, Dequiesce]);
  t.notOk(existsSync(path));
});

t.test('requests are sent in order: the last command determines the state', async (t) => {
  const path = join(folder, 'order');
  const { drain, asked, connect } = run(path);
  await connect();
  drain.begin({ quiesce: true });
  const cancelled = drain.cancel();
  drain.begin({ quiesce: true });
  await cancelled;
  for (let turn = 0; turn < 5; turn++) await turns();
  t.same(asked, [Quiesce, Dequiesce, Quiesce]);
  t.ok(existsSync(path));
});

t.test('a failed request is retried when a controller connects', async (t) => {
  const path = join(folder, 'failed');
  const { drain, asked, state, connect } = run(path);
  state.fails = true;
  drain.begin({ quiesce: true });
  await connect();
  await connect();
  t.same(asked, [Quiesce, Quiesce]);
  t.ok(existsSync(path), 'the controller may have applied it');
  state.fails = false;
  await connect();
  await connect();
  t.same(asked, [Quiesce, Quiesce, Quiesce]);
});

t.test('a state that ziti agent requested survives a reconnection', async (t) => {
  const { drain, asked, connect } = run(join(folder, 'agent'));
  await connect();
  t.equal(await drain.notifyController(Quiesce), 'done');
  await connect();
  t.same(asked, [Quiesce]);
  await drain.notifyController(Dequiesce);
  await connect();
  t.same(asked, [Quiesce, Dequiesce]);
});

t.test('a folder that is not writable does not prevent draining', async (t) => {
  const { drain, asked, connect } = run(join(folder, 'no-such-folder', 'marker'));
  await connect();
  drain.begin({ quiesce: true });
  await turns();
  await drain.close();
  t.same(asked, [Quiesce, Dequiesce]);
});

t.test('a request that fails is repeated later, although the controller stays connected', async (t) => {
  const { clock, drain, asked, state, connect } = run(join(folder, 'repeated'));
  await connect();
  drain.begin({ quiesce: true });
  await turns();
  await turns();
  state.fails = true;
  await t.rejects(drain.cancel(), { message: 'the controller failed' });
  for (const seconds of [10, 20]) {
    await clock.advance(seconds * 1_000 - 1);
    await turns();
    await clock.advance(1);
    await turns();
    await turns();
  }
  t.same(asked, [Quiesce, Dequiesce, Dequiesce, Dequiesce], 'after growing waits');
  state.fails = false;
  await clock.advance(40_000);
  await turns();
  await turns();
  await clock.advance(3_600_000);
  t.same(asked, [Quiesce, Dequiesce, Dequiesce, Dequiesce, Dequiesce], 'until it succeeds');
  state.fails = true;
  await t.rejects(drain.notifyController(Dequiesce));
  await drain.close();
  t.same(clock.timers(), []);
});

t.test('a router that stops does not serve again, and its terminators are not quiesced at its end', async (t) => {
  const path = join(folder, 'stopping');
  const { drain, asked, connect } = run(path);
  await connect();
  drain.begin({ quiesce: true });
  drain.stop();
  await t.rejects(drain.cancel(), { code: 'STOPPING', message: 'the router stops' });
  await t.rejects(drain.notifyController(Quiesce), { code: 'STOPPING' });
  t.equal(drain.status.state, 'draining');
  const closed = drain.close();
  drain.begin({ quiesce: true });
  await closed;
  await turns();
  await turns();
  t.same(asked, [Quiesce, Dequiesce]);
  t.notOk(existsSync(path));
});
