// Circuits that controllers remove, that lose a link, or that a peer names without a right: late dials, lost links,
// payloads from the wrong side.

import { EventEmitter } from 'node:events';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import t from 'tap';
import { VirtualClock } from '#lib/clock.ts';
import { DialQueue } from '#lib/dial-queue.ts';
import { silentLog } from '#lib/log.ts';
import { seededRandom } from '#lib/random.ts';
import {
  CircuitConfirmationSchema,
  DestType,
  FaultSchema,
  type Route,
  Route_EgressSchema,
  RouteSchema,
  UnrouteSchema,
} from '#wire/gen/control_pb.js';
import { ControlType, PayloadFlag, RouteHeader } from '#wire/gen/numbers.ts';
import { Message } from '#wire/message.ts';
import { Payload } from '#wire/xgress-frames.ts';
import { defaultXgressOptions } from '../config/xgress-defaults.ts';
import type { Controller } from '../control/controller.ts';
import { onRoute } from '../control/messages/route.ts';
import { onUnroute } from '../control/messages/unroute.ts';
import { DialsInProgress } from '../egress/dials-in-progress.ts';
import { type DialedEgress, Egress, type EgressRequest } from '../egress/egress.ts';
import { type Destination, PayloadOrigin } from '../forwarder/destination.ts';
import { Faulter } from '../forwarder/faulter.ts';
import { Forwarder } from '../forwarder/forwarder.ts';
import { IdleScanner } from '../forwarder/idle-scanner.ts';
import { traceRouteAnswer } from '../forwarder/trace-route.ts';
import { Unrouter } from '../forwarder/unrouter.ts';
import { MetricsRegistry } from '../metrics/registry.ts';
import { CircuitEnds } from '../xgress/circuit-ends.ts';

const NO_ENDS = { deliver: () => true, end: () => undefined, closed: () => undefined, writable: () => undefined };

/** The rooms of a router that handle circuits, and a controller `c` that records its messages. */
function router() {
  const clock = new VirtualClock();
  const log = silentLog;
  const received: Message[] = [];
  const controller = { id: 'c', send: (message: Message) => void received.push(message) };
  const controllers = {
    connected: true,
    get all() {
      return this.connected ? [controller] : [];
    },
    byId(id: string) {
      return this.connected && id === 'c' ? controller : undefined;
    },
  };
  let foreign = 0;
  const forwarder = new Forwarder({ clock, log, routerId: 'r', foreign: { mark: () => void foreign++ } });
  const metrics = new MetricsRegistry(clock, () => seededRandom(1).next());
  const faulter = new Faulter({ clock, log, controllers, faults: { mark: () => undefined } }, 1_000);
  const scanner = new IdleScanner({ clock, log, forwarder, controllers }, { interval: 60_000, timeout: 60_000 });
  const unrouter = new Unrouter({ clock, log, forwarder }, 5_000);
  forwarder.onLinkLost = (link) => scanner.onLinkLost(link);
  const ends = new CircuitEnds({
    clock,
    log,
    forwarder,
    metrics,
    faulter,
    onUnroutable: (id) => faulter.report(id, ''),
  });
  const close = () => {
    faulter.close();
    scanner.close();
    unrouter.close();
  };
  const rooms = { forwarder, faulter, scanner, unrouter, ends };
  return { clock, received, controllers, controller, ...rooms, close, foreign: () => foreign };
}

/** A link that accepts all traffic. */
function link(address: string): Destination {
  return {
    address,
    acceptPayload: () => true,
    acceptAcknowledgement: () => true,
    acceptControl: () => true,
    onceWritable: (task) => setImmediate(task),
  };
}

const confirmed = (messages: readonly Message[]) =>
  messages
    .filter(({ contentType }) => contentType === ControlType.CircuitConfirmation)
    .flatMap(({ body }) => fromBinary(CircuitConfirmationSchema, body).circuitIds);
const faulted = (messages: readonly Message[]) =>
  messages
    .filter(({ contentType }) => contentType === ControlType.Fault)
    .map(({ body }) => fromBinary(FaultSchema, body).id);

t.test(
  'circuits that lose their link are checked with the controller at once, and again after it reconnects',
  async (t) => {
    const { clock, received, controllers, forwarder, scanner, close } = router();
    const lost = link('link1');
    forwarder.registerLink(lost);
    forwarder.registerLink(link('link2'));
    for (const [id, way] of [
      ['over-1', 'link1'],
      ['over-2', 'link2'],
    ] as const)
      forwarder.circuits.open(id, 'c', {}).forwards.set(way, 'end').set('end', way);
    forwarder.unregisterLink(lost);
    t.same(confirmed(received), ['over-1'], 'the router does not ask about working circuits');
    controllers.connected = false;
    scanner.onConnect('other');
    controllers.connected = true;
    scanner.onConnect('c');
    t.same(confirmed(received), ['over-1', 'over-1']);
    scanner.onConnect('c');
    t.same(confirmed(received), ['over-1', 'over-1'], 'only once');
    await clock.advance(61_000);
    scanner.onConnect('c');
    t.same(
      new Set(confirmed(received)),
      new Set(['over-1', 'over-2']),
      'idle circuits do not wait for the next scan either',
    );
    close();
  },
);

t.test('after a reconnect the router asks about circuits with a silent other end, not about live ones', async (t) => {
  const { clock, received, forwarder, scanner, ends, close } = router();
  const questions: string[] = [];
  const peer: Destination = {
    ...link('link1'),
    acceptControl(frame) {
      const id = frame.body.toString('utf8', 1);
      questions.push(id);
      const hop = { hopType: 'xgress/test', hopId: 'end', now: clock.now() };
      const answer = (error?: string) => traceRouteAnswer(frame, { ...hop, error });
      if (id === 'living') forwarder.forwardControl('link1', answer());
      if (id === 'lost') forwarder.forwardControl('link1', answer('no way'));
      return true;
    },
  };
  forwarder.registerLink(peer);
  const options = { ...defaultXgressOptions(), circuitStartTimeout: 0 };
  for (const circuitId of ['living', 'lost', 'silent', 'routed', 'closed', 'talking']) {
    forwarder.circuits.open(circuitId, 'c', {}).forwards.set('link1', circuitId).set(circuitId, 'link1');
    ends
      .open({ circuitId, address: circuitId, role: 'initiator', options, hopType: 'xgress/test' }, NO_ENDS, 'c')
      .start();
  }
  forwarder.circuits.open('passing', 'c', {}).forwards.set('link1', 'link2').set('link2', 'link1');
  await clock.advance(1_000);
  scanner.onConnect('c');
  t.same(questions, ['living', 'lost', 'silent', 'routed', 'closed', 'talking']);
  await clock.advance(1_000);
  forwarder.circuits.open('routed', 'c', {});
  forwarder.remove('closed');
  forwarder.forwardPayload(
    'link1',
    Payload.create('talking', 0, PayloadFlag.Originator, Buffer.from('x')),
    PayloadOrigin.Forwarded,
  );
  t.same(confirmed(received), []);
  await clock.advance(5_000);
  t.same(confirmed(received), ['lost', 'silent']);
  scanner.onConnect('c');
  scanner.onConnect('c');
  await clock.advance(6_000);
  t.same(confirmed(received).length, 6, 'another disconnect restarts the check once');
  for (let count = 0; count < 1_000; count++) {
    const circuitId = `many-${count}`;
    forwarder.circuits.open(circuitId, 'c', {}).forwards.set('link1', circuitId).set(circuitId, 'link1');
    ends.open({ circuitId, address: circuitId, role: 'initiator', options, hopType: 'x' }, NO_ENDS, 'c').start();
  }
  await clock.advance(100);
  questions.length = 0;
  scanner.onConnect('c');
  t.equal(questions.length, 200, 'in batches');
  await clock.advance(1_000);
  t.equal(questions.length, 1_005);
  close();
  t.notOk(clock.timers().includes('liveness of circuits'));
});

t.test("a peer that names other routers' circuits neither reroutes nor ends them", async (t) => {
  const { clock, received, forwarder, faulter, close, foreign } = router();
  forwarder.registerLink(link('link1'));
  forwarder.registerLink(link('attacker'));
  forwarder.circuits.open('victim', 'c', {}).forwards.set('link1', 'gone').set('gone', 'link1');
  const send = (source: string, id: string) =>
    forwarder.forwardPayload(source, Payload.create(id, 0, 0, Buffer.from('x')), PayloadOrigin.Forwarded);
  t.equal(send('attacker', 'victim'), 'foreign');
  t.equal(foreign(), 1);
  t.equal(send('link1', 'victim'), 'unroutable', 'a fault on its own path is reported');
  t.equal(send('attacker', 'unknown'), 'unroutable');
  for (const id of ['a victim', 'a\nvictim', 'unknown', '']) faulter.report(id, '');
  for (let count = 0; count < 20_000; count++) faulter.report(`made-up-${count}`, '');
  await clock.advance(1_100);
  const reported = faulted(received);
  t.notOk(reported.join(' ').split(' ').includes('victim'));
  t.equal(reported.join(' ').split(' ').length, 10_000);
  t.ok(
    reported.every((ids) => ids.length < 30_000),
    'in messages of bounded length',
  );
  close();
});

t.test('an end that closes while its controller is away, or its queue is full, is reported later', async (t) => {
  const { clock, received, controllers, controller, forwarder, faulter, ends, close } = router();
  const init = { address: 'end', role: 'initiator', options: defaultXgressOptions(), hopType: 'x' } as const;
  const end = (circuitId: string, owner: string) => {
    forwarder.circuits.open(circuitId, owner, {});
    ends.open({ ...init, circuitId }, NO_ENDS, owner).abort();
  };
  controllers.connected = false;
  end('away', 'c');
  end('of-another', 'other');
  controllers.connected = true;
  faulter.flush(); // as when a controller connects
  t.same(faulted(received), ['away']);
  const { send } = controller;
  controller.send = () => {
    throw new Error('queue full');
  };
  end('full-1', 'c');
  end('full-2', 'c');
  await clock.advance(1_000);
  controller.send = send;
  await clock.advance(1_000);
  t.same(faulted(received), ['away', 'full-1', 'full-2']);
  await clock.advance(1_000);
  t.equal(received.length, 3, 'each once');
  close();
});

t.test('a peer that keeps sending does not keep an ended circuit', async (t) => {
  const { clock, forwarder, unrouter, ends, close } = router();
  forwarder.registerLink(link('link1'));
  forwarder.circuits.open('circuit', 'c', {}).forwards.set('link1', 'end').set('end', 'link1');
  const options = { ...defaultXgressOptions(), circuitStartTimeout: 0 };
  const init = { circuitId: 'circuit', address: 'end', role: 'terminator', options, hopType: 'xgress/test' } as const;
  ends.open(init, NO_ENDS, 'c').start();
  unrouter.unroute('circuit', false);
  for (let sequence = 0; sequence < 150 && ends.count > 0; sequence++) {
    forwarder.forwardPayload(
      'link1',
      Payload.create('circuit', sequence, 0, Buffer.from('x')),
      PayloadOrigin.Forwarded,
    );
    await clock.advance(1_000);
  }
  t.equal(ends.count, 0);
  t.equal(forwarder.circuits.size, 0);
  close();
  forwarder.circuits.open('late', 'c', {});
  unrouter.unroute('late', false);
  t.same(clock.timers(), [], 'a message during the stop starts no timer either');
});

t.test('an end for a circuit that was removed in the meantime is cut at once', async (t) => {
  const { ends, forwarder, received, close } = router();
  let outcome = '';
  const init = {
    circuitId: 'gone',
    address: 'end',
    role: 'initiator',
    options: defaultXgressOptions(),
    hopType: 'x',
  } as const;
  const closed = (how: string) => {
    outcome = how;
  };
  ends.open(init, { ...NO_ENDS, closed }, 'c').start();
  t.equal(outcome, 'cut');
  t.same([ends.count, forwarder.addresses()], [0, []]);
  ends.abandon('rejected', 'initiator', 'c');
  t.same(faulted(received), ['rejected'], 'the controller removes the rest of the circuit');
  close();
});

t.test(
  'the connection to a service that answers after the removal of its circuit, or after a drain began, is closed',
  async (t) => {
    for (const how of ['unroute', 'drain'] as const) {
      const { clock, forwarder, ends, unrouter, dials, answers, abandoned, route, close, ...slow } = slowService();
      for (const circuitId of ['dialing', 'waiting']) route(routeMessage(circuitId));
      await new Promise((resolve) => setImmediate(resolve));
      t.equal(dials.size, 2);
      if (how === 'drain') slow.drain();
      else
        for (const circuitId of ['dialing', 'waiting'])
          onUnroute(unrouter, dials)(
            {} as Controller,
            new Message(
              ControlType.Unroute,
              [],
              toBinary(UnrouteSchema, create(UnrouteSchema, { circuitId, now: true })),
            ),
          );
      slow.answer();
      await new Promise((resolve) => setImmediate(resolve));
      t.equal(abandoned(), 1, how);
      t.same([ends.count, forwarder.circuits.size, dials.size], [0, 0, 0]);
      t.notOk(answers.some(({ headers }) => headers.has(RouteHeader.Success)));
      await close();
      t.same(clock.timers(), []);
    }
  },
);

t.test('a route without a dial does not wait behind slow dials', async (t) => {
  const { forwarder, dials, answers, route, close, ...slow } = slowService();
  for (const circuitId of ['dialing', 'waiting']) route(routeMessage(circuitId));
  const outcomes = () =>
    answers.map(({ headers, body }) => `${body} ${headers.has(RouteHeader.Success) ? 'succeeded' : 'failed'}`);
  route(routeMessage('transit', { egress: undefined, forwards: between('link1', 'link2') }));
  t.same(outcomes(), ['transit succeeded']);
  t.equal(forwarder.circuits.get('transit')?.forwards.get('link2'), 'link1');
  t.equal(dials.size, 2);

  slow.answer();
  await new Promise((resolve) => setImmediate(resolve));
  slow.answer();
  await new Promise((resolve) => setImmediate(resolve));
  t.same(outcomes(), ['transit succeeded', 'dialing succeeded', 'waiting succeeded']);
  route(routeMessage('dialing', { forwards: between('end-dialing', 'link2') }));
  t.equal(outcomes().length, 4, 'nor does a new path for an end that exists');
  t.equal(forwarder.circuits.get('dialing')?.forwards.get('end-dialing'), 'link2');
  route(routeMessage('dialing', { forwards: between('end-dialing', 'link3') }));
  t.equal(outcomes().at(-1), 'dialing failed', 'an unknown link is refused');
  await close();
});

t.test('a late dial of an earlier attempt does not disturb the circuit of the next attempt', async (t) => {
  const { clock, forwarder, answers, abandoned, route, close, ...slow } = slowService({ workers: 2 });
  const attempt = (number: number) => {
    const end = `end-${number}`;
    const egress = create(Route_EgressSchema, { binding: 'slow', address: end, destination: 'x' });
    route(routeMessage('circuit', { attempt: number, egress, forwards: between(end, 'link1') }));
  };
  attempt(0);
  attempt(1); // the controller has given up waiting
  slow.answer();
  await new Promise((resolve) => setImmediate(resolve));
  t.equal(abandoned(), 1);
  t.equal(forwarder.destination('end-0'), undefined);
  t.ok(forwarder.destination('end-1'));
  const results = answers.map(({ headers }) => [
    headers.get(RouteHeader.Attempt)?.readUInt32LE(),
    headers.has(RouteHeader.Success),
  ]);
  t.same(
    new Map(results as [number, boolean][]),
    new Map([
      [0, false],
      [1, true],
    ]),
  );
  await close();
});

t.test('the end of an earlier attempt does not take the circuit of the next attempt with it', async (t) => {
  const { clock, forwarder, ends, received, abandoned, route, close, ...slow } = slowService();
  for (const attempt of [0, 1]) {
    const end = `end-${attempt}`;
    const egress = create(Route_EgressSchema, { binding: 'slow', address: end, destination: 'x' });
    route(routeMessage('circuit', { attempt, egress, forwards: between(end, 'link1') }));
    slow.answer(); // another router of the path fails in the first attempt
    await new Promise((resolve) => setImmediate(resolve));
  }
  t.equal(forwarder.destination('end-0'), undefined, 'nobody starts it');
  t.same([abandoned(), ends.count], [0, 1]);
  const start = Payload.create('circuit', 0, PayloadFlag.CircuitStart, Buffer.alloc(0));
  t.equal(forwarder.forwardPayload('link1', start, PayloadOrigin.Forwarded), 'sent');
  await clock.advance(2 * defaultXgressOptions().circuitStartTimeout);
  t.equal(forwarder.circuits.size, 1);
  t.same(faulted(received), []);
  forwarder.remove('circuit');
  t.equal(ends.count, 0);
  await close();
});

t.test('a route that is repeated while its service is dialed keeps the end of the first dial', async (t) => {
  const { forwarder, ends, answers, abandoned, route, close, ...slow } = slowService({ workers: 2 });
  for (let count = 0; count < 2; count++) route(routeMessage('circuit'));
  await new Promise((resolve) => setImmediate(resolve));
  slow.answerOne();
  await new Promise((resolve) => setImmediate(resolve));
  const first = forwarder.destination('end-circuit');
  t.ok(first, 'the circuit is open and may carry data');
  t.equal(answers.length, 1);
  slow.answerOne();
  await new Promise((resolve) => setImmediate(resolve));
  t.equal(forwarder.destination('end-circuit'), first);
  t.same([abandoned(), ends.count], [1, 1]);
  t.same(
    answers.map(({ headers }) => headers.has(RouteHeader.Success)),
    [true, true],
  );
  await close();
});

t.test('with a dwell time, a service is dialed later; the removal of the circuit ends the wait', async (t) => {
  const { clock, unrouter, dials, answers, isDialed, route, close, ...slow } = slowService({ dwellTime: 500 });
  route(routeMessage('circuit'));
  await clock.advance(499);
  t.notOk(isDialed());
  await clock.advance(1);
  t.ok(isDialed());
  slow.answer();
  await new Promise((resolve) => setImmediate(resolve));
  t.ok(answers[0]?.headers.has(RouteHeader.Success));
  route(routeMessage('removed'));
  await clock.advance(100);
  const unroute = create(UnrouteSchema, { circuitId: 'removed', now: true });
  onUnroute(unrouter, dials)({} as Controller, new Message(ControlType.Unroute, [], toBinary(UnrouteSchema, unroute)));
  await clock.advance(1_000);
  t.notOk(isDialed());
  t.notOk(clock.timers().includes('egress dwell'));
  await close();
});

t.test('no more dials run at once than there are workers, and routes beyond the queue are dropped', async (t) => {
  const { dials, answers, route, close, ...slow } = slowService({ workers: 3, length: 10 });
  for (let count = 0; count < 50; count++) route(routeMessage(`circuit${count}`));
  await new Promise((resolve) => setImmediate(resolve));
  t.equal(slow.dialing(), 3);
  t.equal(dials.size, 13);
  for (let rounds = 0; rounds < 10; rounds++) {
    slow.answer();
    await new Promise((resolve) => setImmediate(resolve));
    t.ok(slow.dialing() <= 3);
  }
  t.equal(answers.length, 13, 'as in the reference, the controller gets no answer to the others');
  route(routeMessage('later'));
  await new Promise((resolve) => setImmediate(resolve));
  slow.answer();
  await new Promise((resolve) => setImmediate(resolve));
  t.equal(answers.length, 14);
  await close();
});

/** A router with few dial workers, the links `link1` and `link2`, and a service that answers at the test's request. */
function slowService({ workers = 1, length = 10, dwellTime = 0 } = {}) {
  const { close, ...rooms } = router();
  const { clock, forwarder, ends } = rooms;
  const egress = new Egress(silentLog);
  const service = new EventEmitter();
  let abandoned = 0;
  let accepts = true;
  egress.use('slow', async (request: EgressRequest): Promise<DialedEgress> => {
    await new Promise((resolve) => service.once('answers', resolve));
    return {
      client: { ...NO_ENDS, attach: () => undefined },
      peerData: new Map(),
      hopType: request.address,
      abandon: () => void abandoned++,
    };
  });
  const dials = new DialsInProgress();
  const queue = new DialQueue({ name: 'dials', length, workers, clock });
  const handle = onRoute({
    clock,
    log: silentLog,
    forwarder,
    egress,
    ends,
    queue,
    dials,
    onMissingLink: () => undefined,
    optionsFor: () => defaultXgressOptions(),
    dwellTime,
    acceptsCircuits: () => accepts,
  });
  const answers: Message[] = [];
  const channel = { reply: (_request: Message, answer: Message) => answers.push(answer) > 0 };
  const controller = { id: 'c', channel } as unknown as Controller;
  for (const address of ['link1', 'link2']) forwarder.registerLink(link(address));
  return {
    ...rooms,
    dials,
    answers,
    abandoned: () => abandoned,
    /** Number of dials that wait for the service. */
    dialing: () => service.listenerCount('answers'),
    isDialed: () => service.listenerCount('answers') > 0,
    route: (message: Message) => handle(controller, message),
    answer: () => void service.emit('answers'),
    /** Answers the dial that has waited longest. */
    answerOne: () => void service.rawListeners('answers')[0]?.(),
    drain() {
      accepts = false;
    },
    async close() {
      await queue.close();
      close();
    },
  };
}

function routeMessage(circuitId: string, changes: Partial<Route> = {}): Message {
  const end = `end-${circuitId}`;
  const route: Partial<Route> = {
    circuitId,
    timeout: 10_000_000_000n,
    egress: create(Route_EgressSchema, { binding: 'slow', address: end, destination: 'x' }),
    forwards: between(end, 'link1'),
    ...changes,
  };
  return new Message(ControlType.Route, [], toBinary(RouteSchema, create(RouteSchema, route as never)));
}

function between(one: string, other: string): Route['forwards'] {
  const typeOf = (address: string) => (address.startsWith('link') ? DestType.LINK : DestType.END);
  return [
    { srcAddress: one, dstAddress: other, dstType: typeOf(other) },
    { srcAddress: other, dstAddress: one, dstType: typeOf(one) },
  ] as Route['forwards'];
}
