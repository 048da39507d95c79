// Terminators at controllers: the number of parallel requests, busy controllers, and drains.

import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import t from 'tap';
import { TimeoutError } from '#lib/errors.ts';
import { silentLog } from '#lib/log/log.ts';
import { TaskQueue } from '#lib/queue/task-queue.ts';
import { VirtualClock } from '#lib/time/clock.ts';
import { nextState } from '#lib/transitions.ts';
import { RemoveTerminatorsRequestSchema } from '#wire/gen/control_pb.js';
import { CreateTerminatorResult, CreateTunnelTerminatorResponseV2Schema } from '#wire/gen/edge_control_pb.js';
import { EdgeControlHeader, EdgeControlType, RetryHint } from '#wire/gen/numbers.ts';
import { encodeUint32 } from '#wire/header-values.ts';
import { Message } from '#wire/message.ts';
import { AdaptiveWindow, DEFAULT_WINDOW } from '../../control/adaptive-window.ts';
import { MetricsRegistry } from '../../metrics/registry.ts';
import type { TerminatorSpec } from './terminator-spec.ts';
import { TERMINATOR_TRANSITIONS, type TerminatorEvent } from './terminator-states.ts';
import { Terminators } from './terminators.ts';

/** A controller that answers on the test's command. */
class FakeController {
  readonly id = 'ctrl';
  readonly asked: { id: string; answer(result: CreateTerminatorResult): void }[] = [];
  readonly removed: string[] = [];
  max = 0;
  #outstanding = 0;

  readonly changes: { request: string; answer(type: number, hint?: number): void; fail(error: Error): void }[] = [];
  /** Removals are answered when it resolves. */
  removal = Promise.resolve();

  request(message: Message): Promise<Message> {
    if (message.contentType === EdgeControlType.UpdateTunnelTerminator) return this.#change(message);
    this.max = Math.max(this.max, ++this.#outstanding);
    return new Promise((resolve) => {
      const terminatorId = message.body.toString();
      const answer = (result: CreateTerminatorResult) => {
        this.#outstanding--;
        const body = create(CreateTunnelTerminatorResponseV2Schema, { terminatorId, result });
        const type = EdgeControlType.CreateTunnelTerminatorV2Response;
        resolve(new Message(type, [], toBinary(CreateTunnelTerminatorResponseV2Schema, body)));
      };
      this.asked.push({ id: terminatorId, answer });
    });
  }

  #change(message: Message): Promise<Message> {
    return new Promise((resolve, fail) => {
      const answer = (type: number, hint = 0) =>
        resolve(new Message(type, [[EdgeControlHeader.RetryHint, encodeUint32(hint)]], 'no leader'));
      this.changes.push({ request: message.body.toString(), answer, fail });
    });
  }

  async requestResult(message: Message): Promise<Message> {
    this.removed.push(...fromBinary(RemoveTerminatorsRequestSchema, message.body).terminatorIds);
    await this.removal;
    return message;
  }

  answerAll(result: CreateTerminatorResult): void {
    for (const { answer } of this.asked.splice(0)) answer(result);
  }
}

function setup({ maxSize = 10, minSize = 5, length = 1_000, workers = 2 } = {}) {
  const clock = new VirtualClock();
  const metrics = new MetricsRegistry(clock, () => 0.5);
  const controller = new FakeController();
  const handlers = new Map<number, (from: unknown, message: Message) => void>();
  const on = (type: number, handler: (from: unknown, message: Message) => void) => void handlers.set(type, handler);
  let connected: (controller: { id: string }) => void = () => undefined;
  const onConnect = (listener: typeof connected) => {
    connected = listener;
  };
  const controllers = { all: [controller], best: controller, on, onConnect };
  const window = new AdaptiveWindow({ clock, log: silentLog, metrics }, { ...DEFAULT_WINDOW, maxSize, minSize });
  const terminators = new Terminators({
    clock,
    log: silentLog,
    controllers,
    queue: new TaskQueue({ name: 'test', length, workers, clock }),
    window,
    created: () => undefined,
  });
  const add = (id: string, fields: Partial<TerminatorSpec> = {}) =>
    terminators.add({
      binding: 'tunnel',
      ...fields,
      id,
      serviceName: 'service',
      cost: 0,
      precedence: 'default',
      instanceId: '',
      request: () => new Message(EdgeControlType.CreateTunnelTerminatorV2, [], id),
      change: (change) => ({
        request: new Message(EdgeControlType.UpdateTunnelTerminator, [], `${id} ${JSON.stringify(change)}`),
        answerType: EdgeControlType.UpdateTunnelTerminatorResponse,
      }),
      controller: () => controller,
    });
  /** The controller answers with a separate message, not with a reply. */
  const tell = (terminatorId: string, result: CreateTerminatorResult) => {
    const body = create(CreateTunnelTerminatorResponseV2Schema, { terminatorId, result });
    const type = EdgeControlType.CreateTunnelTerminatorV2Response;
    const message = new Message(type, [], toBinary(CreateTunnelTerminatorResponseV2Schema, body));
    handlers.get(type)?.(controller, message);
  };
  return { clock, controller, window, terminators, add, tell, reconnect: () => connected({ id: 'ctrl' }) };
}

/** Lets promises and immediates run. */
const turns = async () => {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
};

t.test('the window bounds outstanding requests, and each answer admits the next', async (t) => {
  const { controller, terminators, add } = setup();
  for (let id = 0; id < 35; id++) add(`t${id}`);
  for (let round = 0; round < 5; round++) {
    await turns();
    controller.answerAll(CreateTerminatorResult.SUCCESS);
  }
  await turns();
  t.equal(controller.max, 10);
  t.ok(terminators.inspect('tunnel').every(({ state }) => state === 'established'));
  await terminators.close(100);
  t.equal(new Set(controller.removed).size, 35, 'all batches are removed');
});

t.test('terminators wait for a place in a short queue, and none of them fails', async (t) => {
  const { controller, terminators, add } = setup({ maxSize: 50, minSize: 50, length: 1, workers: 1 });
  for (let id = 0; id < 60; id++) add(`t${id}`);
  const isEstablished = () => terminators.inspect('tunnel').every(({ state }) => state === 'established');
  for (let round = 0; round < 60 && !isEstablished(); round++) {
    await turns();
    controller.answerAll(CreateTerminatorResult.SUCCESS);
  }
  await turns();
  t.ok(isEstablished(), 'without a pause');
  await terminators.close(100);
});

const CHANGED = EdgeControlType.UpdateTunnelTerminatorResponse;

t.test('changes wait for the terminator and for a place in the queue, and the last values are sent', async (t) => {
  const { controller, terminators, add } = setup({ length: 0, workers: 1 });
  add('b');
  await turns();
  controller.answerAll(CreateTerminatorResult.SUCCESS);
  add('a');
  terminators.change('a', { cost: 5 });
  await turns();
  t.same(controller.changes, [], 'not before it exists');
  controller.answerAll(CreateTerminatorResult.SUCCESS);
  await turns();
  t.same(requests(controller), ['a {"cost":5}']);
  terminators.change('b', { cost: 7 });
  terminators.change('a', { cost: 6 });
  terminators.change('a', { precedence: 2 });
  terminators.change('a', { cost: 8 });
  await turns();
  t.equal(controller.changes.length, 1, 'the only worker is busy');
  for (let answers = 0; answers < 3; answers++) {
    controller.changes[answers]?.answer(CHANGED);
    await turns();
  }
  t.same(requests(controller).sort(), ['a {"cost":5}', 'a {"cost":8,"precedence":2}', 'b {"cost":7}']);
  await terminators.close(100);
});

t.test('a change that a controller did not answer is sent again, a rejected one is not', async (t) => {
  const { clock, controller, terminators } = await establishedTerminator();
  terminators.change('a', { cost: 5 });
  await turns();
  terminators.change('a', { precedence: 1 });
  controller.changes[0]?.fail(new Error('the channel was closed'));
  await turns();
  t.same(requests(controller).slice(1), ['a {"cost":5,"precedence":1}'], 'at once if something else changed meanwhile');
  controller.changes[1]?.fail(new Error('the channel was closed'));
  await turns();
  t.equal(controller.changes.length, 2);
  await clock.advance(2_000);
  await turns();
  t.equal(requests(controller)[2], 'a {"cost":5,"precedence":1}');
  controller.changes[2]?.answer(EdgeControlType.Error, RetryHint.TooBusy);
  await turns();
  await clock.advance(4_000);
  await turns();
  t.equal(controller.changes.length, 4, 'sent again if the rejection is for the moment');
  controller.changes[3]?.answer(EdgeControlType.Error, RetryHint.NotRetriable);
  await turns();
  await clock.advance(600_000);
  await turns();
  t.equal(controller.changes.length, 4);
  await terminators.close(100);
});

t.test('a client that changes its service all the time does not flood the controller', async (t) => {
  const { clock, controller, terminators } = await establishedTerminator();
  const flood = async (changes: number) => {
    for (let cost = 1; cost <= changes; cost++) {
      terminators.change('a', { cost });
      await turns();
      for (const { answer } of controller.changes) answer(CHANGED);
    }
  };
  await flood(50);
  t.equal(controller.changes.length, 11);
  await clock.advance(1_000);
  await flood(50);
  t.equal(controller.changes.length, 12);
  await clock.advance(1_000);
  await turns();
  t.equal(requests(controller).at(-1), 'a {"cost":50}', 'the last change is sent in the end');
  await terminators.close(100);
});

t.test('a change is sent after a drain that interrupted it', async (t) => {
  const { clock, controller, terminators } = await establishedTerminator();
  terminators.change('a', { cost: 5 });
  await turns();
  terminators.suspend();
  controller.changes[0]?.fail(new Error('the channel was closed'));
  await turns();
  terminators.resume();
  await turns();
  controller.answerAll(CreateTerminatorResult.SUCCESS);
  await turns();
  await clock.advance(2_000);
  await turns();
  t.same(requests(controller), ['a {"cost":5}', 'a {"cost":5}']);
  await terminators.close(100);
});

for (const late of ['answer to a request', 'confirmation'] as const)
  t.test(`a late ${late} does not count for a terminator whose removal is in flight`, async (t) => {
    const { clock, controller, terminators, add } = setup();
    add('a');
    await turns();
    if (late === 'confirmation') controller.answerAll(CreateTerminatorResult.SUCCESS);
    await turns();
    const { promise, resolve } = Promise.withResolvers<void>();
    controller.removal = promise;
    terminators.suspend();
    await turns();
    t.same(controller.removed, ['a']);
    terminators.resume();
    await turns();
    if (late === 'confirmation') terminators.confirm('a');
    else controller.answerAll(CreateTerminatorResult.SUCCESS);
    await turns();
    t.notOk(terminators.isEstablished('a'));
    resolve();
    await turns();
    await clock.advance(1_000);
    await turns();
    t.equal(controller.asked.length, 1, 'it is created again');
    controller.answerAll(CreateTerminatorResult.SUCCESS);
    await turns();
    t.ok(terminators.isEstablished('a'));
    await terminators.close(100);
  });

/** A bind that takes over the terminator reports its success at once, since nothing else would report it. */
t.test('a terminator is established while a controller that has returned has not confirmed it', async (t) => {
  const { clock, controller, terminators, add, reconnect } = setup();
  let established = 0;
  add('a', { binding: 'edge', established: () => void established++ });
  await turns();
  t.notOk(terminators.isEstablished('a'));
  controller.answerAll(CreateTerminatorResult.SUCCESS);
  await turns();
  reconnect();
  t.match(terminators.inspect('edge'), [{ state: 'unconfirmed' }]);
  t.ok(terminators.isEstablished('a'));
  t.ok(terminators.confirm('a'));
  await clock.advance(60_000);
  await turns();
  t.same([established, controller.asked], [1, []], 'the confirmation has no effects');
  t.ok(terminators.isEstablished('a'));
  reconnect();
  await clock.advance(11_000);
  await turns();
  t.notOk(terminators.isEstablished('a'), 'it is created again');
  await terminators.close(100);
});

t.test('the terminators of the tunneler are created again as soon as a controller returns', async (t) => {
  const { controller, terminators, add, reconnect } = setup();
  add('a');
  await turns();
  controller.answerAll(CreateTerminatorResult.SUCCESS);
  await turns();
  reconnect();
  await turns();
  t.match(controller.asked, [{ id: 'a' }], 'without a wait: the controller may have lost it');
  controller.answerAll(CreateTerminatorResult.SUCCESS);
  await turns();
  t.ok(terminators.isEstablished('a'));
  await terminators.close(100);
});

t.test('many terminators are not created again at once: the controller may still have them', async (t) => {
  const { clock, controller, terminators, add, reconnect } = setup({ maxSize: 200 });
  for (let number = 0; number < 101; number++) add(`t${number}`);
  await turns();
  controller.answerAll(CreateTerminatorResult.SUCCESS);
  await turns();
  reconnect();
  await clock.advance(9_000);
  await turns();
  t.same(controller.asked, []);
  await clock.advance(2_000);
  await turns();
  t.ok(controller.asked.length > 0);
  await terminators.close(100);
});

t.test('terminators of clients are created again once the controller has named those that it has', async (t) => {
  const { controller, terminators, add, reconnect } = setup();
  for (const id of ['a', 'b']) add(id, { binding: 'edge' });
  await turns();
  controller.answerAll(CreateTerminatorResult.SUCCESS);
  await turns();
  reconnect();
  terminators.listed('another');
  await turns();
  t.same(controller.asked, [], 'with the token of the client, the request may fail');
  terminators.confirm('a');
  terminators.listed('ctrl');
  await turns();
  t.match(controller.asked, [{ id: 'b' }]);
  t.equal(controller.asked.length, 1);
  controller.answerAll(CreateTerminatorResult.SUCCESS);
  await turns();
  terminators.listed('ctrl');
  await turns();
  t.same(controller.asked, [], 'later lists may be incomplete');
  await terminators.close(100);
});

t.test('a confirmation does not replace the answer to a request, which has effects', async (t) => {
  const { clock, controller, terminators, add } = setup();
  let established = 0;
  add('a', { established: () => void established++ });
  await turns();
  controller.answerAll(CreateTerminatorResult.FAILED_BUSY);
  await turns();
  t.ok(terminators.confirm('a'), 'the router has it');
  await clock.advance(10_000);
  await turns();
  controller.answerAll(CreateTerminatorResult.SUCCESS);
  await turns();
  t.equal(established, 1);
  await terminators.close(100);
});

/** A setup with the terminator `a`. */
async function establishedTerminator() {
  const rooms = setup();
  rooms.add('a');
  await turns();
  rooms.controller.answerAll(CreateTerminatorResult.SUCCESS);
  await turns();
  return rooms;
}

function requests({ changes }: FakeController): string[] {
  return changes.map(({ request }) => request);
}

t.test('a host with many services that disconnects costs one search of all terminators', async (t) => {
  const { clock, controller, terminators, add } = setup({ maxSize: 1_000, minSize: 1_000 });
  for (let id = 0; id < 1_000; id++) add(`t${id}`);
  await turns();
  controller.answerAll(CreateTerminatorResult.SUCCESS);
  await turns();
  let searches = 0;
  const { monotonic } = clock;
  clock.monotonic = () => (searches++, monotonic.call(clock));
  for (let id = 0; id < 1_000; id++) terminators.remove(`t${id}`);
  t.ok(searches < 10, `${searches} times`);
  await turns();
  t.equal(new Set(controller.removed).size, 1_000);
});

t.test('a busy controller gets fewer parallel requests, and later ones', async (t) => {
  const { clock, controller, window, terminators, add } = setup({ maxSize: 20 });
  for (let id = 0; id < 40; id++) add(`t${id}`);
  for (let round = 0; round < 3; round++) {
    await turns();
    controller.answerAll(CreateTerminatorResult.FAILED_BUSY);
  }
  await turns();
  t.ok(window.size < 20, String(window.size));
  t.ok(terminators.inspect('tunnel').some(({ state }) => state === 'establishing'));
  for (let round = 0; round < 30; round++) {
    await clock.advance(10_000);
    await turns();
    controller.answerAll(CreateTerminatorResult.SUCCESS);
  }
  await turns();
  t.ok(terminators.inspect('tunnel').every(({ state }) => state === 'established'));
  await terminators.close(100);
});

t.test('only rejections count as such, not a busy controller', async (t) => {
  const { clock, controller, terminators, add } = setup();
  const rejections: number[] = [];
  add('t', { mayRetry: (_answer, count) => rejections.push(count) > 0 });
  const { SUCCESS, FAILED_BUSY: busy, FAILED_OTHER: rejected } = CreateTerminatorResult;
  for (const result of [busy, busy, busy, rejected, busy, rejected, SUCCESS]) {
    await turns();
    controller.answerAll(result);
    await turns();
    await clock.advance(120_000);
  }
  t.same(rejections, [1, 2]);
  await terminators.close(100);
});

t.test('the end of an earlier request does not lose the answer to a later one', async (t) => {
  const { controller, terminators, add, tell } = setup();
  add('t');
  await turns();
  terminators.remove('t');
  await turns();
  add('t');
  await turns();
  t.equal(controller.asked.length, 2);
  controller.asked.shift()?.answer(CreateTerminatorResult.FAILED_OTHER);
  await turns();
  tell('t', CreateTerminatorResult.SUCCESS);
  await turns();
  t.ok(terminators.isEstablished('t'));
  await terminators.close(100);
});

t.test('a terminator that is created after its removal and after the time limit is removed again', async (t) => {
  const { clock, controller, terminators, add, tell } = setup();
  const { request } = controller;
  controller.request = (message) => {
    request.call(controller, message).catch(() => undefined);
    return Promise.reject(new TimeoutError('the answer', 5_000));
  };
  add('t');
  add('kept');
  await turns();
  terminators.remove('t');
  await turns();
  t.same(controller.removed.splice(0), ['t'], 'the controller does not know it yet');
  tell('t', CreateTerminatorResult.FAILED_OTHER);
  await turns();
  t.same(controller.removed, []);
  tell('t', CreateTerminatorResult.SUCCESS);
  tell('kept', CreateTerminatorResult.SUCCESS);
  await clock.advance(1_000);
  await turns();
  t.same(controller.removed, ['t']);
  await terminators.close(100);
  controller.removed.length = 0;
  tell('late', CreateTerminatorResult.SUCCESS);
  await turns();
  t.same(controller.removed, [], 'a router that ends sends nothing more');
});

t.test('suspended terminators are removed, also after a late answer, and created again', async (t) => {
  const { clock, controller, terminators, add } = setup();
  add('early');
  await turns();
  controller.answerAll(CreateTerminatorResult.SUCCESS);
  add('late');
  await turns();
  terminators.suspend();
  add('meanwhile');
  await turns();
  t.ok(controller.removed.includes('early'));
  controller.removed.length = 0;
  controller.answerAll(CreateTerminatorResult.SUCCESS);
  await turns();
  await clock.advance(1_000);
  await turns();
  t.ok(controller.removed.includes('late'), 'the controller created it after the removal');
  t.equal(terminators.unremoved, 0);
  t.same(controller.asked, []);
  terminators.resume();
  await turns();
  t.same(controller.asked.map(({ id }) => id).sort(), ['early', 'late', 'meanwhile']);
  controller.answerAll(CreateTerminatorResult.SUCCESS);
  await turns();
  t.ok(terminators.inspect('tunnel').every(({ state }) => state === 'established'));
  await terminators.close(100);
});

t.test('in every state, a terminator has a transition for each message of a controller', async (t) => {
  const outside: TerminatorEvent[] = ['created', 'failed', 'confirmed', 'reconnected', 'suspend'];
  for (const [state, transitions] of Object.entries(TERMINATOR_TRANSITIONS))
    if (state !== 'suspended') for (const event of outside) t.ok(transitions[event], `${event} in ${state}`);
  t.same(
    Object.keys(TERMINATOR_TRANSITIONS.suspended),
    ['suspend', 'resume'],
    'ignores everything until it is resumed',
  );
  t.throws(() => nextState(TERMINATOR_TRANSITIONS, 'suspended', 'request', 'a terminator'), /request of a terminator/);
});
